"use strict";
// Draws every chart of the page: <figure> holds a select (when there is more than one view), a
// checkbox (when its views are also there without what recording cost), a <div class="chart"> and one
// JSON element per view. Views without that cost hold the data, and what differs in the layout.
// Colours come from the page's style, so that charts follow the light, dark and print theme.
(() => {
  const whyNoPlotly = plotly();

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

  // A strip is as strong as its share: on a dark page a dark blue could not be seen.
  function inked(traces) {
    const accent = colour("--accent");
    const colorscale = [[0, `${accent}00`], [1, `${accent}ff`]];
    return traces.map((each) => (each.type === "heatmap" ? { ...each, colorscale } : each));
  }

  // Below this width names stand above their bars and strips: beside them they would take half of it.
  const narrow = matchMedia("(max-width: 640px)");
  const nameHeight = 20;

  const pen = document.createElement("canvas").getContext("2d");

  function widthOf(text, weight) {
    pen.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  }

  // A name of at most `room` pixels, cut in the middle. Names are escaped.
  function shortened(name, room) {
    const text = document.createElement("textarea");
    text.innerHTML = name;
    const whole = text.value;
    let shown = whole;
    for (let half = whole.length >> 1; half > 0 && widthOf(shown, "normal") > room; --half) {
      shown = `${whole.slice(0, half)}…${whole.slice(-half)}`;
    }
    text.textContent = shown;
    return text.innerHTML;
  }

  function labelled(name, beside, room) {
    const short = shortened(name, room - widthOf(` ${beside}`, "bold"));
    return beside ? `${short} <b>${beside}</b>` : short;
  }

  // A category axis whose names get a line of their own above each row, which grows by as much.
  function namesAbove(layout, key, room) {
    const axis = layout[key];
    const rows = axis.ticktext.length;
    const share = axis.domain ? axis.domain[1] - axis.domain[0] : 1;
    const { t, b } = layout.margin;
    const plot = layout.height - t - b;
    const before = (plot * share) / rows;
    const row = before + nameHeight;
    const half = row / 2 - nameHeight / 2 + 3;
    const texts = (layout.annotations || []).map((each) => each.text);
    const names = axis.ticktext.map((name, i) => ({
      x: 0, xref: "paper", xanchor: "left", y: i, yref: key.replace("axis", ""), yshift: half,
      text: labelled(name, texts[i] || "", room), showarrow: false, font: { size: 12 },
    }));
    return { rows, row, names, height: layout.height + rows * nameHeight };
  }

  // A legend of two columns, with room above the plot for all of its lines.
  function legendAbove({ data, layout }) {
    const named = data.filter((each) => each.type !== "heatmap").length;
    const t = 20 + 22 * Math.ceil(named / 2);
    return {
      data,
      layout: {
        ...layout, height: layout.height + t - layout.margin.t, margin: { ...layout.margin, t },
        legend: { ...layout.legend, entrywidth: 0.48, entrywidthmode: "fraction", font: { size: 11 } },
      },
    };
  }

  // Legends beside their lines would take half of the width: each gets lines of its own above them.
  function legendsAbove({ data, layout }) {
    const keys = Object.keys(layout).filter((each) => /^legend\d*$/.test(each));
    const above = keys.map((key) => [key, {
      ...layout[key], orientation: "h", x: 0, xanchor: "left", yanchor: "bottom", entrywidth: 1, entrywidthmode: "fraction", font: { size: 11 },
    }]);
    return { data, layout: { ...layout, ...Object.fromEntries(above) } };
  }

  function narrowBars(chosen, width) {
    const { row, names, height } = namesAbove(chosen.layout, "yaxis", width - 40);
    const longest = chosen.layout.xaxis.range[1] / 1.22;
    return {
      data: chosen.data,
      layout: {
        ...chosen.layout, height, annotations: names, bargap: 1 - 14 / row,
        xaxis: { ...chosen.layout.xaxis, range: [0, longest * 1.02], nticks: 5 },
        yaxis: { ...chosen.layout.yaxis, showticklabels: false },
      },
    };
  }

  function narrowTimeline(chosen, width) {
    const { rows, row, names, height } = namesAbove(chosen.layout, "yaxis2", width - 100);
    const { t, b } = chosen.layout.margin;
    const strips = Math.min((rows * row) / (height - t - b), 0.86);
    return {
      data: chosen.data.map((each) => (each.type === "heatmap" ? { ...each, ygap: row - 14 } : each)),
      layout: {
        ...chosen.layout, height, annotations: names,
        xaxis: { ...chosen.layout.xaxis, nticks: 5 },
        yaxis: { ...chosen.layout.yaxis, domain: [strips + 0.04, 1] },
        yaxis2: { ...chosen.layout.yaxis2, domain: [0, strips], showticklabels: false, ticks: "" },
      },
    };
  }

  function fitted(whole, width) {
    if (!narrow.matches) {
      return whole;
    }
    const named = whole.data.map((each) => (each.name ? { ...each, name: shortened(each.name, width - 120) } : each));
    const chosen = { ...whole, data: named };
    if ((chosen.layout.yaxis2 || {}).ticktext) {
      return narrowTimeline(legendAbove(chosen), width);
    }
    if (chosen.layout.yaxis.ticktext) {
      return narrowBars(legendAbove(chosen), width);
    }
    return legendsAbove(chosen);
  }

  // A bar has the place of its name; the names are in the axis.
  function named({ data, layout }) {
    const names = (layout.yaxis || {}).categoryarray;
    const bars = names ? data.map((each) => (each.type === "bar" ? { ...each, y: each.y.map((place) => names[place]) } : each)) : data;
    return { data: bars, layout };
  }

  function chosenView(figure) {
    const select = figure.querySelector("select");
    const read = (kind) => JSON.parse(figure.querySelectorAll(kind)[select ? select.selectedIndex : 0].textContent);
    const recorded = read("script:not(.corrected)");
    if (!figure.querySelector("input:checked")) {
      return recorded;
    }
    const { data, layout } = read("script.corrected");
    return { data, layout: { ...recorded.layout, ...layout } };
  }

  async function unpacked(element) {
    const bytes = Uint8Array.from(atob(element.textContent), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  // Runs the plotly of the page, or of the file beside it. Returns why there is none.
  async function plotly() {
    const packed = document.getElementById("plotly");
    if (!packed) {
      return window.Plotly ? "" : `${document.querySelector("script[src]").getAttribute("src")} is missing`;
    }
    if (!window.DecompressionStream) {
      return "this browser is older than 2023";
    }
    const script = document.createElement("script");
    script.textContent = await unpacked(packed);
    document.head.append(script);
    return "";
  }

  async function draw(figure) {
    const chart = figure.querySelector(".chart");
    const reason = await whyNoPlotly;
    if (reason) {
      chart.textContent = `The page cannot draw this chart, because ${reason}. The table below has its numbers.`;
      return;
    }
    const chosen = fitted(named(chosenView(figure)), chart.clientWidth);
    await Plotly.react(chart, inked(chosen.data), themed(chosen.layout), config);
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

  // As recorded or without that cost: in all charts that know both.
  async function correct(checked) {
    for (const figure of document.querySelectorAll("figure:has(input)")) {
      figure.querySelector("input").checked = checked;
      await draw(figure);
    }
  }

  async function drawAll() {
    for (const figure of document.querySelectorAll("figure")) {
      await draw(figure);
    }
  }

  // On a phone a cell stands behind the name of its column.
  for (const table of document.querySelectorAll("table")) {
    const columns = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, i) => { cell.dataset.column = columns[i]; });
    }
  }
  for (const select of document.querySelectorAll("figure select")) {
    select.addEventListener("change", () => choose(select.value));
  }
  for (const box of document.querySelectorAll("figure input")) {
    box.addEventListener("change", () => correct(box.checked));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  narrow.addEventListener("change", drawAll);
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => { each.open = true; });
    drawAll();
  });
  addEventListener("afterprint", drawAll);
  drawAll().then(() => { document.documentElement.dataset.drawn = "true"; });
})();
