// How a chart is put on the page: in the page's colours, redrawn when these or the width change.
"use strict";

(() => {
  const S = window.Sureleaf;
  const charts = [];

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return {
      ink: of("--ink"), soft: of("--soft"), line: of("--line"), strong: of("--line-strong"), paper: of("--paper"),
      accent: of("--accent"), plain: of("--plain"), warn: of("--warn"),
    };
  }

  // The band between low and high: an invisible line, and the height above it stacked on it.
  function band(x, low, high, colour, name) {
    const kept = x.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
    const shared = { type: "line", stack: name, stackStrategy: "all", symbol: "none", silent: true, tooltip: { show: false }, lineStyle: { opacity: 0 }, z: 1 };
    return [
      { ...shared, data: kept.map((i) => [x[i], low[i]]) },
      { ...shared, data: kept.map((i) => [x[i], high[i] - low[i]]), areaStyle: { color: colour, opacity: 0.2 } },
    ];
  }

  function axis(c, name, more) {
    return {
      type: "value", name, nameLocation: "middle", nameGap: 30,
      nameTextStyle: { color: c.soft, fontSize: 12.5 }, axisLabel: { color: c.soft, fontSize: 11.5 },
      axisLine: { show: true, lineStyle: { color: c.strong } }, axisTick: { lineStyle: { color: c.strong } },
      splitLine: { lineStyle: { color: c.line } }, ...more,
    };
  }
  const shares = { min: 0, max: 1, interval: 0.25, axisLabel: { formatter: (value) => `${Math.round(100 * value)}` } };
  function shareAxis(c, name, more) {
    const made = axis(c, name, { ...shares, ...more });
    made.axisLabel = { color: c.soft, fontSize: 11.5, ...shares.axisLabel };
    return made;
  }

  // Tooltips are drawn as text in the picture, not as HTML.
  function tooltip(c, formatter, more) {
    return { renderMode: "richText", confine: true, backgroundColor: c.paper, borderColor: c.strong, textStyle: { color: c.ink, fontSize: 12.5 }, formatter, ...more };
  }

  // With a view box a chart fits paper of any width.
  function scalable({ place, drawn }) {
    place.querySelector("svg").setAttribute("viewBox", `0 0 ${drawn.getWidth()} ${drawn.getHeight()}`);
  }

  function chart(id, option) {
    const place = S.byId(id);
    if (!place) return null;
    const one = { place, drawn: echarts.init(place, null, { renderer: "svg" }), option };
    one.draw = () => {
      const base = {
        animation: false, backgroundColor: "transparent",
        textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
      };
      one.drawn.setOption({ ...base, ...one.option(colours()) }, true);
      scalable(one);
    };
    one.draw();
    new ResizeObserver(() => {
      if (window.matchMedia("print").matches) return; // paper scales what is there
      one.drawn.resize();
      scalable(one);
    }).observe(place);
    charts.push(one);
    return one;
  }

  function redraw() {
    for (const one of charts) {
      one.drawn.resize();
      one.draw();
    }
  }

  Object.assign(S, { chart, redraw, band, axis, shareAxis, tooltip });
})();
