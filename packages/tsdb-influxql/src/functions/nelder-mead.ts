import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';

const MAX_ITERATIONS = 1000;
const REFLECTION = 1;
const EXPANSION = 2;
const CONTRACTION = 0.5;

interface Vertex {
  value: number;
  readonly parameters: number[];
}

/** Minimizes a function without derivatives. Source: Nelder and Mead, 1965. */
export class NelderMead {
  /**
   * May correct its argument in place, for example to keep a factor within bounds. This moves the
   * vertex.
   */
  readonly #objective: (parameters: number[]) => Steps<number>;
  readonly #epsilon: number;

  constructor(objective: (parameters: number[]) => Steps<number>, epsilon: number) {
    this.#objective = objective;
    this.#epsilon = epsilon;
  }

  *minimize(
    start: readonly number[],
  ): Steps<{ readonly value: number; readonly parameters: number[] }> {
    const vertices = yield* this.#simplex(start);
    for (let i = 0; i < MAX_ITERATIONS; i++) {
      yield* this.#step(vertices);
      if (this.#isDone(vertices)) break;
    }
    const { parameters } = vertices[extreme(vertices, -1)] as Vertex; // a simplex has vertices
    return { value: yield* this.#objective(parameters), parameters };
  }

  /**
   * Yields to the event loop, then evaluates the objective, because each evaluation reads all
   * values.
   */
  *#at(parameters: number[]): Steps<Vertex> {
    yield;
    return { value: yield* this.#objective(parameters), parameters };
  }

  *#simplex(start: readonly number[]): Steps<Vertex[]> {
    const n = start.length;
    const near = (Math.sqrt(n + 1) - 1 + n) / (n * Math.SQRT2);
    const far = (Math.sqrt(n + 1) - 1) / (n * Math.SQRT2);
    const corners = start.map((_, i) => start.map((value, j) => value + (i === j ? near : far)));
    const vertices: Vertex[] = [];
    for (const parameters of [[...start], ...corners]) vertices.push(yield* this.#at(parameters));
    return vertices;
  }

  #isDone(vertices: readonly Vertex[]): boolean {
    const mean = vertices.reduce((sum, { value }) => sum + value, 0) / vertices.length;
    const squares = vertices.reduce((sum, { value }) => sum + (value - mean) ** 2, 0);
    return Math.sqrt(squares / (vertices.length - 1)) < this.#epsilon;
  }

  *#step(vertices: Vertex[]): Steps<void> {
    const n = vertices.length - 1;
    const worstPlace = extreme(vertices, 1);
    const bestPlace = extreme(vertices, -1);
    const worst = vertices[worstPlace] as Vertex;
    const best = vertices[bestPlace] as Vertex;
    const secondPlace = secondWorst(vertices, bestPlace, worst.value);
    const second = vertices[secondPlace] as Vertex;
    const centre = best.parameters.map(
      (_, j) =>
        vertices.reduce((sum, v) => (v === worst ? sum : sum + (v.parameters[j] ?? 0)), 0) / n,
    );
    const towards = (from: readonly number[], factor: number): number[] =>
      centre.map((c, j) => c + factor * ((from[j] ?? 0) - c));
    const reflected = yield* this.#at(towards(worst.parameters, -REFLECTION));
    if (reflected.value < best.value) {
      const expanded = yield* this.#at(towards(reflected.parameters, EXPANSION));
      vertices[worstPlace] = expanded.value < reflected.value ? expanded : reflected;
      return;
    }
    if (reflected.value < second.value) {
      vertices[worstPlace] = reflected;
      return;
    }
    const from = reflected.value < worst.value ? reflected : worst;
    const contracted = yield* this.#at(towards(from.parameters, CONTRACTION));
    if (contracted.value < worst.value) {
      vertices[worstPlace] = contracted;
      return;
    }
    for (const vertex of vertices) {
      if (vertex === best) continue;
      vertex.parameters.forEach((value, j) => {
        const origin = best.parameters[j] ?? 0;
        vertex.parameters[j] = origin + (value - origin) / 2;
      });
    }
    // Re-evaluates only the two worst vertices. The others are re-evaluated when they become the
    // worst.
    worst.value = yield* this.#objective(worst.parameters);
    second.value = yield* this.#objective(second.parameters);
  }
}

/** Returns the index of the greatest (`sign` 1) or least value. */
function extreme(vertices: readonly Vertex[], sign: 1 | -1): number {
  let place = 0;
  vertices.forEach(({ value }, i) => {
    if (sign * value > sign * (vertices[place] as Vertex).value) place = i;
  });
  return place;
}

function secondWorst(vertices: readonly Vertex[], bestPlace: number, worst: number): number {
  let place = bestPlace;
  vertices.forEach(({ value }, i) => {
    if (value > (vertices[place] as Vertex).value && value < worst) place = i;
  });
  return place;
}
