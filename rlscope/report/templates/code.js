// Fills in the times of source lines: those of the chosen operations.
(() => {
  const hottest = 10;

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  // Own time by layer, total time and GPU time of each line.
  function timesOf(data, choice) {
    const chosen = new Set(data.choices[choice]);
    const lines = data.lines.map((_, line) => ({
      own: data.layers.map(() => 0), total: 0, gpu: 0,
      backward: choice === 0 ? data.backward[line] : 0, // not known by operation
    }));
    for (const [line, operation, layer, own, total, gpu = 0] of data.parts) {
      if (chosen.has(operation)) {
        lines[line].own[layer] += own;
        lines[line].total += total;
        lines[line].gpu += gpu;
      }
    }
    return lines;
  }

  function bar(data, own, longest) {
    const made = element("div", "");
    made.className = "bar";
    own.forEach((ns, layer) => {
      const part = element("i", "");
      part.style.width = `${(100 * ns) / longest}%`;
      part.style.background = data.layers[layer][1];
      made.append(part);
    });
    return made;
  }

  function fill(row, data, { own, total, gpu, backward }, longest) {
    const sum = amounts.sum(own);
    const waiting = data.waiting === null ? 0 : own[data.waiting];
    const shown = (ns) => (ns ? amounts.duration(ns) : "");
    const [ownCell, shareCell, layerCell, totalCell, waitCell, ...others] = row.cells;
    ownCell.textContent = shown(sum);
    shareCell.textContent = sum ? amounts.share(sum, data.whole_ns) : "";
    totalCell.textContent = shown(total);
    waitCell.textContent = shown(waiting);
    if (data.gpu) {
      others.shift().textContent = shown(gpu);
    }
    if (data.backward.length) {
      others.shift().textContent = shown(backward);
    }
    layerCell.textContent = "";
    if (sum) {
      layerCell.append(bar(data, own, longest), element("span", data.layers[amounts.largest(own)][0]));
      layerCell.title = amounts.layerShares(data.layers, own, data.whole_ns);
    }
  }

  function jump(code, data, lines) {
    const list = code.querySelector(".jump");
    list.textContent = "";
    const ranked = lines.map(({ own }, line) => [amounts.sum(own), line]).filter(([ns]) => ns)
      .sort((one, other) => other[0] - one[0]).slice(0, hottest);
    for (const [ns, line] of ranked) {
      const row = document.getElementById(`${code.id}-${line}`);
      const item = element("li", `${amounts.share(ns, data.whole_ns)} `);
      const link = element(row ? "a" : "span", data.lines[line]);
      if (row) {
        link.href = `#${row.id}`;
        item.append(link, " ", element("code", row.querySelector("code").textContent.trim()));
      } else {
        item.append(link);
      }
      list.append(item);
    }
  }

  function show(code, data) {
    const lines = timesOf(data, code.querySelector("select").selectedIndex);
    const longest = Math.max(...lines.map(({ own }) => amounts.sum(own)));
    for (const row of code.querySelectorAll("[data-line]")) {
      fill(row, data, lines[row.dataset.line], longest);
    }
    jump(code, data, lines);
  }

  for (const code of document.querySelectorAll(".code")) {
    const data = JSON.parse(code.querySelector("script").textContent);
    amounts.drawLegend(code.querySelector(".legend"), data.layers);
    show(code, data);
    code.querySelector("select").addEventListener("change", () => show(code, data));
    code.querySelector(".jump").addEventListener("click", ({ target }) => {
      const row = target.hash && document.getElementById(target.hash.slice(1));
      if (row) {
        row.closest("details").open = true;
      }
    });
  }
})();
