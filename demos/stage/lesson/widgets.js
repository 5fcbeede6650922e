// What a reader moves: five views of lesson.js, each on a picture that Python has drawn.
//
// Beside each attribute and text that moves stands its template, data-cx="[answer.0]"
// (template.py). A widget reads its inputs, computes, and fills the templates in. It
// makes no element and removes none, so what has the focus keeps it.
"use strict";

// Returns the template filled in with values, as `fill` in template.py does.
function fill(template, values) {
  return template.replace(/\[([a-zA-Z][\w.]*)(?::(\d)(e?))?\]/g, (_, path, digits, small) => {
    const value = path.split(".").reduce((inner, key) => inner[key], values);
    if (typeof value === "string") return value;
    return digits ? written(value, Number(digits), small) : value.toFixed(4);
  });
}

const RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";

function written(x, digits, small) {
  if (small && x !== 0 && Math.abs(x) < 0.5 * 10 ** -digits) {
    const [mantissa, exponent] = x.toExponential(0).split("e");
    const raised = exponent.replace("+", "").replace(/./g, (c) => RAISED["-0123456789".indexOf(c)]);
    return `${mantissa}·10${raised}`.replace("-", "−");
  }
  const text = x.toFixed(digits);
  return text.replace("-", /[1-9]/.test(text) ? "−" : "");
}

// Shows a widget: `view` maps its settings, {name of an input: value}, to all that its
// templates name. Returns its element and the function that draws it again.
function show(name, view) {
  const root = document.getElementById(`widget-${name}`);
  if (!root) return; // of a demo that was not run
  root.querySelectorAll("fieldset").forEach((fieldset) => (fieldset.disabled = false));
  const inputs = root.querySelectorAll("input, select");
  const bound = [...root.querySelectorAll("*")].flatMap((element) =>
    [...element.attributes]
      .filter((attribute) => attribute.name.startsWith("data-"))
      .map((attribute) => [element, attribute.name.slice(5), attribute.value]),
  );
  function draw() {
    const settings = {};
    for (const { name, type, value, checked } of inputs) {
      if (type === "radio" && !checked) continue;
      settings[name] = type === "text" || isNaN(value) ? value : Number(value);
    }
    const values = { ...settings, ...view(settings, root) };
    for (const [element, attribute, template] of bound) {
      const text = fill(template, values);
      if (attribute === "text") element.textContent = text;
      else element.setAttribute(attribute, text);
    }
  }
  root.addEventListener("input", draw);
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button"); // it puts its value into an input
    if (!button) return;
    const input = root.querySelector(`input[name="${button.name}"]`);
    if (button.value === "up") input.stepUp();
    else input.value = button.value;
    draw();
  });
  draw();
  return { root, draw };
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// Lets the inputs x and y follow a handle in a plane: by finger, mouse and arrow keys.
function drag({ root, draw }) {
  const [handle, frame, x, y] = [".handle", ".frame", "[name=x]", "[name=y]"].map((part) =>
    root.querySelector(part),
  );
  const move = (to) => {
    [x.value, y.value] = to.map((z) => Math.max(-1.4, Math.min(1.4, z)));
    draw();
  };
  const follow = (event) => {
    const screen = frame.getScreenCTM().inverse(); // from the screen to the plane
    const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(screen);
    move([p.x, p.y]);
  };
  handle.addEventListener("pointerdown", (event) => handle.setPointerCapture(event.pointerId));
  // a finger on the handle drags it, not the page: touch-action does nothing within SVG
  handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) follow(event);
  });
  handle.ownerSVGElement.addEventListener("click", follow);
  handle.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.2 : 0.05;
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault(); // the page would scroll
    move([Number(x.value) + step * way[0], Number(y.value) + step * way[1]]);
  });
}

const lookup = show("lookup", ({ x, y, power }) => {
  const [query, temperature] = [[x, y], 10 ** power];
  const result = lesson.lookup({ query, temperature });
  const scores = lesson.lookup.data.keys.map((k) => dot(k, query));
  return { ...result, scores, temperature, size: stretch(result.jacobian) };
});
if (lookup) drag(lookup);

// The largest factor by which a matrix stretches a vector of the plane, its 2-norm:
// (σ₁ + σ₂)² = Σ aᵢⱼ² + 2 |det|,  (σ₁ - σ₂)² = Σ aᵢⱼ² - 2 |det|
function stretch([[a, b], [c, d]]) {
  const [squares, det] = [a * a + b * b + c * c + d * d, Math.abs(a * d - b * c)];
  return (Math.sqrt(squares + 2 * det) + Math.sqrt(Math.max(squares - 2 * det, 0))) / 2;
}

show("capitals", ({ query, power, mix }) => {
  const { keys, queries, countries, values } = lesson.capitals.data;
  const temperature = 10 ** power;
  const result = lesson.capitals({ query, temperature, mix });
  const order = countries.map((_, i) => i);
  order.sort((i, j) => result.weights[j] - result.weights[i]);
  const hit = keys.indexOf(queries[query]); // what a dict does
  return {
    ...result,
    temperature,
    wide: result.weights.map((w) => 9 * w),
    text: queries[query],
    found: hit < 0 ? "nothing" : countries[hit],
    top: order.slice(0, 3).map((i) => ({
      name: countries[i], weight: result.weights[i], place: values[i],
    })),
  };
});

// Where sharpen.py draws: a power of ten of the scale, and the depth of a size below 1
const across = (power) => (320 * (power + 2)) / 5;
const sunk = (size) => 150 * Math.min(size > 0 ? -Math.log10(size) / 46 : 1, 1);
const curve = (heights) =>
  "M" + heights.map((y, i) => `${across(i / 20 - 2).toFixed(1)},${y.toFixed(1)}`).join(" ");

show("sharpen", ({ pulled, power, ...settings }) => {
  const scores = lesson.sharpen.data.scores.map((_, i) => settings[`score${i}`]);
  const g = scores.map((_, i) => Number(i === pulled)); // L is the weight to raise
  const sizeAt = (scale) => Math.hypot(...lesson.sharpen({ scores, scale, g }).gradient);
  const scale = 10 ** power;
  const size = sizeAt(scale);
  const sizes = Array.from({ length: 101 }, (_, i) => sizeAt(10 ** (i / 20 - 2)));
  const largest = Math.max(...sizes);
  const best = Math.max(...scores);
  const gaps = scores.map((s) => best - s);
  const gone = 150 * Math.LN2; // e^-103.97 is half of float32's smallest number, 2^-149
  const gap = gaps[pulled] || [...gaps].sort((a, b) => a - b)[1];
  return {
    ...lesson.sharpen({ scores, scale, g }),
    scores, scale, size,
    pulled: String(pulled + 1),
    share: curve(sizes.map((x) => 150 * (1 - x / largest))),
    powers: curve(sizes.map(sunk)),
    here: across(power),
    height: 150 * (1 - size / largest),
    depth: sunk(size),
    cut: across(Math.min(Math.log10(gone / gap), 9)),
    lost: String(gaps.filter((x) => x * scale > gone).length),
  };
});

show("paths", ({ n, position }, root) => {
  const input = Math.min(position, n) - 1;
  const layers = {};
  for (const layer of Object.keys(lesson.paths.data)) {
    const { lengths, gradient, way } = lesson.paths({ layer, n, input });
    const ops = [...new Set(lengths)].join(" to ");
    layers[layer] = { ops, size: Math.hypot(...gradient) };
    const svg = root.querySelector(`[data-layer=${layer}]`);
    for (const graph of svg.querySelectorAll(".graph"))
      graph.classList.toggle("shown", graph.dataset.n === String(n));
    const mark = (marks, on) => marks.forEach((mark, i) => mark.classList.toggle("on", on(i)));
    mark(svg.querySelectorAll(".shown path"), (i) => way[i]);
    mark(svg.querySelectorAll(".shown circle:not(.answer)"), (i) => i === input);
  }
  return { layers, last: String(n), position: String(input + 1) };
});

show("induction", ({ sequence, step: asked }) => {
  const { letters } = lesson.induction.data;
  const known = [...String(sequence).toLowerCase()].filter((c) => letters.includes(c));
  const text = (known.length > 1 ? known : [...letters]).slice(0, 24);
  const step = Math.min(asked, text.length - 1);
  const { weights, next } = lesson.induction({ sequence: text.join(""), step });
  const cells = Array.from({ length: 24 }, (_, i) => i);
  const [first, second] = weights.map((row) => cells.map((i) => row[i] ?? 0));
  const keys = weights.map((row) => row.indexOf(Math.max(...row)));
  const before = text.lastIndexOf(text[step], step - 1);
  const chance = Math.max(...next);
  const middle = (i) => 28 * (i + 0.5);
  return {
    letter: cells.map((i) => text[i] ?? ""),
    query: text[step], first, second, chance,
    read: keys.map((key) => text[key]),
    sure: weights.map((row) => Math.max(...row)),
    arcs: keys.map((key) => {
      const [start, end] = [middle(step), middle(key)];
      return `M${start} 0Q${(start + end) / 2} ${(0.3 * (end - start) - 14).toFixed(1)} ${end} 0`;
    }),
    here: 28 * step,
    place: step && before >= 0 ? 28 * (before + 1) : -999,
    guess: letters[next.indexOf(chance)],
    fact: text[step + 1] ?? "the end",
    last: String(text.length - 1),
  };
});
