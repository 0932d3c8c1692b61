"use strict";
// Draws every chart of the page: <figure> holds a select (when there is more than one view), a
// <div class="chart"> and one JSON element per view. Colours come from the page's style, so that
// charts follow the light, dark and print theme.
(() => {
  // Named one by one: plotly's default set has a button that sends the data to a server.
  const buttons = [["toImage", "zoom2d", "pan2d", "resetScale2d"]];
  const config = { responsive: true, displaylogo: false, displayModeBar: true, modeBarButtons: buttons };

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function themed(layout) {
    const result = { ...layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
    result.font = { ...layout.font, color: colour("--text"), family: getComputedStyle(document.body).fontFamily };
    result.hoverlabel = { ...layout.hoverlabel, bgcolor: colour("--surface"), bordercolor: colour("--line"), font: { color: colour("--text") } };
    result.modebar = { bgcolor: "rgba(0,0,0,0)", color: colour("--quiet"), activecolor: colour("--text") };
    for (const key of Object.keys(layout).filter((each) => /^[xy]axis\d*$/.test(each))) {
      result[key] = { gridcolor: colour("--grid"), zerolinecolor: colour("--line"), linecolor: colour("--line"), ...layout[key] };
      result[key].title = { ...layout[key].title, font: { size: 12, color: colour("--quiet") } };
    }
    return result;
  }

  function views(figure) {
    return [...figure.querySelectorAll('script[type="application/json"]')];
  }

  async function draw(figure) {
    const select = figure.querySelector("select");
    const chosen = JSON.parse(views(figure)[select ? select.selectedIndex : 0].textContent);
    await Plotly.react(figure.querySelector(".chart"), chosen.data, themed(chosen.layout), config);
  }

  // Choosing a process in one chart chooses it in all that know it.
  async function choose(name) {
    for (const figure of document.querySelectorAll("figure")) {
      const select = figure.querySelector("select");
      const index = select ? [...select.options].findIndex((option) => option.value === name) : -1;
      if (index >= 0 && index !== select.selectedIndex) {
        select.selectedIndex = index;
      }
      if (index >= 0) {
        await draw(figure);
      }
    }
  }

  async function drawAll() {
    for (const figure of document.querySelectorAll("figure")) {
      await draw(figure);
    }
  }

  for (const select of document.querySelectorAll("figure select")) {
    select.addEventListener("change", () => choose(select.value));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => { each.open = true; });
    drawAll();
  });
  addEventListener("afterprint", drawAll);
  drawAll().then(() => { document.documentElement.dataset.drawn = "true"; });
})();
