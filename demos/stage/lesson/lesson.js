// What the widgets compute: five functions of their settings, and nothing of how it looks.
//
// They say a second time, in another language, what minigrad and attention say, so
// tests/test_lesson.py puts 200 random settings to each and holds the answers to the
// engine's, to 1e-12. Their constants, lesson.NAME.data, are written by Python.
//
// Letters as in the source: s scores, α weights, m keys, n positions, g = dL/dα.
"use strict";
const lesson = (window.lesson = {});

const sum = (x) => x.reduce((total, y) => total + y, 0);
const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
const times = (x, W) => W[0].map((_, j) => sum(x.map((y, i) => y * W[i][j]))); // x W

// αᵢ = e^sᵢ / Σⱼ e^sⱼ; the largest score is taken off first, so that no power overflows
function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((s) => Math.exp(s - largest));
  const Z = sum(powers);
  return powers.map((e) => e / Z);
}

// αᵢ = softmax(q · kᵢ / T)      out = Σᵢ αᵢ vᵢ
// ∂out/∂q = Cov_α(v, k) / T = Σᵢ αᵢ (vᵢ - out) (kᵢ - k̄)ᵀ / T
lesson.lookup = ({ query, temperature }) => {
  const { keys, values } = lesson.lookup.data; // (m, 2) each
  const weights = softmax(keys.map((k) => dot(k, query) / temperature)); // (m,)
  const answer = times(weights, values); // (2,)
  const mean = times(weights, keys); // (2,), the k̄
  const jacobian = answer.map((out, a) =>
    mean.map((middle, b) => {
      const products = keys.map((k, i) => (values[i][a] - out) * (k[b] - middle));
      return dot(weights, products) / temperature;
    }),
  ); // (2, 2): row a, how the answer's coordinate a moves with the query
  return { weights, answer, jacobian };
};

// α = (1 - mix) softmax(meaning / T) + mix softmax(letters / T)      out = Σᵢ αᵢ vᵢ
lesson.capitals = ({ query, temperature, mix }) => {
  const { meaning, letters, values } = lesson.capitals.data;
  const [first, second] = [meaning, letters].map((scores) =>
    softmax(scores[query].map((s) => s / temperature)),
  ); // (40,) each
  const weights = first.map((a, i) => (1 - mix) * a + mix * second[i]);
  return { weights, answer: times(weights, values) }; // degrees north, degrees east
};

// α = softmax(c s)      dL/dsⱼ = c αⱼ (gⱼ - Σᵢ gᵢ αᵢ)
lesson.sharpen = ({ scores, scale, g }) => {
  const weights = softmax(scores.map((s) => scale * s));
  const mean = dot(g, weights);
  return { weights, gradient: weights.map((a, j) => scale * a * (g[j] - mean)) };
};

// The graph of a layer on n positions, as the engine recorded it: its edges from the
// output down, and what each input gets from each. From the output to one input:
//
//     lengths     ops on the shortest and on the longest way
//     gradient    dL/dx, what arrives over all the edges, added up
//     way         for each edge whether it lies on a way there
lesson.paths = ({ layer, n, input }) => {
  const { edges, inputs } = lesson.paths.data[layer][n];
  const leaf = inputs[input];
  const lengths = new Map([[0, [0, 0]]]); // of the ways to each; the output is number 0
  for (const [from, to] of edges) {
    const [short, long] = lengths.get(from);
    const [least, most] = lengths.get(to) ?? [Infinity, 0];
    lengths.set(to, [Math.min(least, short + 1), Math.max(most, long + 1)]);
  }
  const arriving = edges.filter(([, to]) => to === leaf).map(([, , passing]) => passing);
  const gradient = arriving.reduce((a, b) => a.map((x, i) => x + b[i]));
  const leads = new Set([leaf]); // all from which a way leads to the leaf
  const way = edges.map(() => false);
  for (let i = edges.length - 1; i >= 0; i--) {
    const [from, to] = edges[i];
    if ((way[i] = leads.has(to))) leads.add(from);
  }
  return { lengths: lengths.get(leaf), gradient, way };
};

// Two layers of attention, one head each, that learned to copy (demos, induction):
//
//     x ← x + attn(norm(x))    twice        next = softmax(norm(x) W)
//
// The letter at `step` is the query; `weights` is what it reads in each layer.
lesson.induction = ({ sequence, step }) => {
  const { letters, embedding, layers, norm, output } = lesson.induction.data;
  let x = [...sequence].slice(0, step + 1).map((c) => embedding[letters.indexOf(c)]);
  const weights = layers.map((layer) => {
    const normed = x.map((row) => normalised(row, layer.norm)); // (T, d)
    const [Q, K] = [layer.query, layer.key].map((W) =>
      normed.map((row, t) => turned(times(row, W), t)),
    );
    const V = normed.map((row) => times(row, layer.value));
    const A = Q.map((q, t) =>
      softmax(K.slice(0, t + 1).map((k) => dot(q, k) / Math.sqrt(q.length))),
    ); // row t: the weights of the letters up to t
    x = x.map((row, t) => {
      const y = times(times(A[t], V.slice(0, t + 1)), layer.output);
      return row.map((old, i) => old + y[i]);
    });
    return A[step];
  });
  return { weights, next: softmax(times(normalised(x[step], norm), output)) };
};

// (x - μ) / √(σ² + ε) · w, layer normalisation
function normalised(x, w) {
  const mean = sum(x) / x.length;
  const centred = x.map((y) => y - mean);
  const r = 1 / Math.sqrt(dot(centred, centred) / x.length + 1e-5);
  return centred.map((y, i) => y * r * w[i]);
}

// rope: the pair (xᵢ, xᵢ₊d/2) of a row at position t, turned by t 10000^(-2i/d)
function turned(x, t) {
  const half = x.length / 2;
  return x.map((y, j) => {
    const angle = t * 10000 ** ((-2 * (j % half)) / x.length);
    const other = j < half ? -x[j + half] : x[j - half];
    return y * Math.cos(angle) + other * Math.sin(angle);
  });
}
