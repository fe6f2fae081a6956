// What a chart says of the day under the pointer, or where the arrow keys lead: a slider over the chart.

import { h } from "./dom.js";

/** @param {string} label of the chart @param {string[]} texts of each place, from left to right */
export function reading(label, texts) {
  const last = texts.length - 1;
  const said = h("span.said", { "aria-hidden": "true", hidden: true });
  const line = h("i.at", { hidden: true });
  const show = () => {
    const left = `${(100 * input.value) / (last || 1)}%`;
    said.textContent = texts[input.value];
    input.setAttribute("aria-valuetext", texts[input.value]);
    for (const one of [said, line]) one.style.setProperty("--at", left);
    said.hidden = line.hidden = false;
  };
  const hide = () => {
    said.hidden = line.hidden = document.activeElement !== input;
  };
  const point = ({ offsetX }) => {
    input.value = Math.round((offsetX / input.offsetWidth) * last);
    show();
  };
  const attributes = { type: "range", max: String(last), value: String(last), "aria-label": label };
  const events = { oninput: show, onfocus: show, onpointermove: point, onpointerleave: hide, onblur: hide };
  const input = h("input", { ...attributes, "aria-valuetext": texts[last], ...events });
  return [line, said, input];
}
