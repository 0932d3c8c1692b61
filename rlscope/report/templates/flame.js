// Draws flame graphs: each call a box below the call that made it, as wide as its share of what is
// shown. A call narrower than a pixel has no box, and the page says how many these are.
(() => {
  const rowHeight = 22;
  const leastWidth = 1; // pixels
  const labelWidth = 36; // pixels that a name needs to say anything

  function readTree(data) {
    const root = { name: "all", place: "", text: "", caller: null, callees: [], depth: 0 };
    const frames = [];
    for (const [caller, name, place] of data.frames) {
      const above = caller < 0 ? root : frames[caller];
      const frame = { name: data.texts[name], place: data.texts[place], caller: above, callees: [], depth: above.depth + 1 };
      frame.text = `${frame.name} ${frame.place}`.toLowerCase();
      above.callees.push(frame);
      frames.push(frame);
    }
    if (data.colours) { // of the root first
      [root, ...frames].forEach((frame, at) => { frame.colour = data.colours[at]; });
    }
    return { root, frames };
  }

  // Gives each frame its own time, and by layer the time with all that it called.
  function addUp({ root, frames }, data, choice, measure) {
    const chosen = new Set(data.choices[choice]);
    for (const frame of [root, ...frames]) {
      frame.own = 0;
      frame.times = data.layers.map(() => 0);
    }
    for (const [frame, operation, layer, ...times] of data.parts) {
      const ns = times[measure] || 0;
      if (chosen.has(operation)) {
        frames[frame].own += ns;
        frames[frame].times[layer] += ns;
      }
    }
    for (const frame of [...frames].reverse()) { // a frame comes after its caller
      frame.times.forEach((ns, layer) => { frame.caller.times[layer] += ns; });
    }
    for (const frame of [root, ...frames]) {
      frame.total = amounts.sum(frame.times);
    }
  }

  // How many frames have time in what a frame called, itself among them.
  function countOf(frame) {
    return frame.callees.reduce((count, each) => count + countOf(each), frame.total > 0 ? 1 : 0);
  }

  function isDark(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
    const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) < 0.179;
  }

  class FlameGraph {
    constructor(part) {
      this.part = part;
      this.data = JSON.parse(part.querySelector("script").textContent);
      this.boxes = part.querySelector(".frames");
      this.out = part.querySelector("button");
      this.search = part.querySelector("input[type='search']");
      this.measures = [...part.querySelectorAll("input[type='radio']")];
      this.tree = readTree(this.data);
      this.colours = this.data.layers.map(([, colour]) => `background: ${colour}; color: ${isDark(colour) ? "#ffffff" : "#000000"}`);
      this.zoomed = this.tree.root;
      this.listen();
      this.choose();
    }

    listen() {
      this.part.querySelector("select").addEventListener("change", () => this.choose());
      this.measures.forEach((each) => each.addEventListener("change", () => this.choose()));
      this.search.addEventListener("input", () => this.mark());
      this.out.addEventListener("click", () => this.zoom(this.tree.root));
      this.boxes.addEventListener("click", ({ target }) => this.zoom((target.closest(".frame") || {}).frame));
      this.boxes.addEventListener("keydown", (event) => this.go(event));
      for (const kind of ["focusin", "mouseover"]) {
        this.boxes.addEventListener(kind, ({ target }) => this.tell((target.closest(".frame") || {}).frame));
      }
      new ResizeObserver(() => {
        if (this.boxes.clientWidth !== this.width) {
          this.draw();
        }
      }).observe(this.boxes);
    }

    choose() {
      this.measure = Math.max(this.measures.findIndex((each) => each.checked), 0);
      addUp(this.tree, this.data, this.part.querySelector("select").selectedIndex, this.measure);
      const timed = this.timed();
      amounts.drawLegend(this.part.querySelector(".legend"), this.data.layers.filter((_, layer) => timed.has(layer)));
      this.boxes.setAttribute("aria-label", this.data.measures[this.measure][1]);
      while (!this.zoomed.total && this.zoomed.caller) {
        this.zoomed = this.zoomed.caller;
      }
      this.draw();
    }

    // The layers that have a frame of their colour.
    timed() {
      const { root, frames } = this.tree;
      if (this.data.colours) {
        return new Set([root, ...frames].filter((frame) => frame.total).map((frame) => frame.colour));
      }
      return new Set(this.data.parts.filter(([, , , ...times]) => times[this.measure]).map(([, , layer]) => layer));
    }

    zoom(frame) {
      if (frame) {
        const hadFocus = this.boxes.contains(document.activeElement);
        this.zoomed = frame;
        this.draw();
        if (hadFocus) {
          this.focus(frame);
        }
      }
    }

    draw() {
      this.width = this.boxes.clientWidth;
      this.drawn = [];
      for (let above = this.zoomed.caller; above; above = above.caller) {
        this.drawn.unshift(this.box(above, 0, this.width));
      }
      const above = this.drawn.length;
      this.drawBelow(this.zoomed, 0, this.width);
      this.narrow = countOf(this.zoomed) - (this.drawn.length - above);
      const depth = Math.max(...this.drawn.map((box) => box.frame.depth));
      this.boxes.style.height = `${(depth + 1) * rowHeight}px`;
      this.boxes.replaceChildren(...this.drawn);
      this.boxes.querySelector(".zoomed").tabIndex = 0;
      this.out.disabled = this.zoomed === this.tree.root;
      this.mark();
      this.tell(this.zoomed);
    }

    // Marks the frames that match the search.
    mark() {
      const wanted = this.search.value.toLowerCase();
      this.matches = (frame) => wanted !== "" && frame.text.includes(wanted);
      for (const box of this.drawn) {
        const isMatch = this.matches(box.frame);
        box.classList.toggle("match", isMatch);
        box.classList.toggle("other", wanted !== "" && !isMatch);
      }
      this.tellFound(wanted);
    }

    drawBelow(frame, left, width) {
      this.drawn.push(this.box(frame, left, width));
      let at = left;
      const callees = frame.callees.filter((each) => each.total).sort((one, other) => other.total - one.total);
      for (const callee of callees) {
        const calleeWidth = (width * callee.total) / frame.total;
        if (calleeWidth >= leastWidth) {
          this.drawBelow(callee, at, calleeWidth);
        }
        at += calleeWidth;
      }
    }

    box(frame, left, width) {
      const box = document.createElement("div");
      box.frame = frame;
      box.className = frame === this.zoomed ? "frame zoomed" : "frame";
      box.setAttribute("role", "treeitem");
      box.setAttribute("aria-level", frame.depth + 1);
      box.setAttribute("aria-selected", frame === this.zoomed);
      box.setAttribute("aria-label", `${frame.name}, ${this.shareOf(frame)}`);
      box.tabIndex = -1;
      box.style.cssText = `left: ${left}px; width: ${Math.max(width - 1, 1)}px; top: ${frame.depth * rowHeight}px; ${this.colours[frame.colour ?? amounts.largest(frame.times)]}`;
      box.textContent = width >= labelWidth ? frame.name : "";
      return box;
    }

    shareOf(frame) {
      return amounts.share(frame.total, this.tree.root.total);
    }

    tell(frame) {
      if (frame) {
        this.part.querySelector(".chosen").textContent = [
          frame.name, `${amounts.duration(frame.total)}, ${this.shareOf(frame)}`,
          `itself ${amounts.duration(frame.own)}`,
          frame.colour === undefined ? amounts.layerShares(this.data.layers, frame.times, this.tree.root.total) : this.data.layers[frame.colour][0],
          frame.place,
        ].filter(Boolean).join(" · ");
      }
    }

    // The time of matching frames, each nanosecond once: those inside another one are in it.
    tellFound(wanted) {
      let [frames, ns] = [0, 0];
      const look = (frame, isInside) => {
        const matches = this.matches(frame) && frame.total > 0;
        frames += matches;
        ns += matches && !isInside ? frame.total : 0;
        frame.callees.forEach((each) => look(each, isInside || matches));
      };
      if (wanted) {
        look(this.tree.root, false);
      }
      const calls = (count) => `${count.toLocaleString("en-US")} ${count === 1 ? "call" : "calls"}`;
      this.part.querySelector(".found").textContent = [
        wanted && `${calls(frames)} found, ${amounts.share(ns, this.tree.root.total)} of the ${this.measure ? this.data.measures[this.measure][0] : "time"}.`,
        this.narrow && `${calls(this.narrow)} narrower than a pixel ${this.narrow === 1 ? "is" : "are"} not drawn.`,
      ].filter(Boolean).join(" ");
    }

    focus(frame) {
      const box = this.drawn.find((each) => each.frame === frame);
      if (box) {
        this.boxes.querySelector("[tabindex='0']").tabIndex = -1;
        box.tabIndex = 0;
        box.focus();
      }
    }

    go(event) {
      const { frame } = event.target;
      const shown = (each) => this.drawn.some((box) => box.frame === each);
      const beside = frame.caller ? this.drawn.map((box) => box.frame).filter((each) => each.caller === frame.caller) : [frame];
      const next = {
        ArrowUp: frame.caller,
        ArrowDown: this.drawn.map((box) => box.frame).find((each) => each.caller === frame),
        ArrowLeft: beside[beside.indexOf(frame) - 1],
        ArrowRight: beside[beside.indexOf(frame) + 1],
      }[event.key];
      if (next && shown(next)) {
        this.focus(next);
      } else if (event.key === "Enter" || event.key === " ") {
        this.zoom(frame);
      } else if (event.key === "Escape") {
        this.zoom(this.tree.root);
      } else if (!event.key.startsWith("Arrow")) {
        return;
      }
      event.preventDefault();
    }
  }

  document.querySelectorAll(".flame").forEach((each) => new FlameGraph(each));
})();
