// Numbers as rlscope/report/units.py writes them, the legend of layers, and what a choice adds up.
const amounts = (() => {
  const blank = "\u00a0"; // a line does not end between a number and its unit

  function digits(value) {
    const size = Math.abs(value);
    const places = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
  }

  function longDuration(seconds) {
    const two = (value) => String(value).padStart(2, "0");
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    if (hours >= 48) {
      return `${Math.floor(hours / 24)}${blank}d${blank}${two(hours % 24)}${blank}h`;
    }
    return minutes < 60 ? `${minutes}${blank}min${blank}${two(seconds % 60)}${blank}s` : `${hours}${blank}h${blank}${two(minutes % 60)}${blank}min`;
  }

  function duration(ns) {
    if (ns >= 600e9) {
      return longDuration(Math.round(ns / 1e9));
    }
    if (ns < 1000) {
      return `${Math.round(ns)}${blank}ns`;
    }
    const [divisor, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]].find(([each]) => ns >= 0.9995 * each);
    return `${digits(ns / divisor)}${blank}${unit}`;
  }

  function share(part, whole) {
    const percent = (100 * part) / whole;
    if (!whole) {
      return "-";
    }
    return percent > 0 && percent < 0.05 ? `<${blank}0.1${blank}%` : `${percent.toFixed(1)}${blank}%`;
  }

  // The layers that have time, the largest first: "framework 10.1 %, python 2.0 %".
  function layerShares(layers, times, whole) {
    return layers.map(([name], i) => [name, times[i]]).filter(([, ns]) => ns > 0)
      .sort((one, other) => other[1] - one[1]).map(([name, ns]) => `${name} ${share(ns, whole)}`).join(", ");
  }

  function largest(times) {
    return times.indexOf(Math.max(...times));
  }

  function drawLegend(list, layers) {
    list.textContent = "";
    for (const [name, colour] of layers) {
      const item = document.createElement("li");
      const swatch = document.createElement("i");
      swatch.style.background = colour;
      item.append(swatch, name);
      list.append(item);
    }
  }

  const sum = (values) => values.reduce((one, other) => one + other, 0);

  return { duration, share, layerShares, largest, drawLegend, sum };
})();
