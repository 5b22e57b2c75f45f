const MAX_ITERATIONS = 1000;
const REFLECTION = 1;
const CONTRACTION = 0.5;
const EXPANSION = 2;

interface Vertex {
  readonly value: number;
  readonly parameters: number[];
}

/** Search for the least value of a function without its slopes. Source: Nelder and Mead, 1965. */
export class NelderMead {
  readonly #objective: (parameters: readonly number[]) => number;
  readonly #epsilon: number;

  constructor(objective: (parameters: readonly number[]) => number, epsilon: number) {
    this.#objective = objective;
    this.#epsilon = epsilon;
  }

  minimize(start: readonly number[]): Vertex {
    const vertices = this.#simplex(start);
    for (let i = 0; i < MAX_ITERATIONS; i++) {
      vertices.sort((a, b) => a.value - b.value);
      if (this.#isDone(vertices)) break;
      this.#step(vertices);
    }
    vertices.sort((a, b) => a.value - b.value);
    return vertices[0] as Vertex; // a simplex has corners
  }

  #at(parameters: number[]): Vertex {
    return { value: this.#objective(parameters), parameters };
  }

  #simplex(start: readonly number[]): Vertex[] {
    const n = start.length;
    const near = (Math.sqrt(n + 1) - 1 + n) / (n * Math.SQRT2);
    const far = (Math.sqrt(n + 1) - 1) / (n * Math.SQRT2);
    const corners = start.map((_, i) => start.map((value, j) => value + (i === j ? near : far)));
    return [[...start], ...corners].map((parameters) => this.#at(parameters));
  }

  #isDone(vertices: readonly Vertex[]): boolean {
    const mean = vertices.reduce((sum, { value }) => sum + value, 0) / vertices.length;
    const spread =
      vertices.reduce((sum, { value }) => sum + (value - mean) ** 2, 0) / (vertices.length - 1);
    return Math.sqrt(spread) < this.#epsilon;
  }

  #step(vertices: Vertex[]): void {
    const n = vertices.length - 1;
    const best = vertices[0] as Vertex;
    const worst = vertices[n] as Vertex;
    const second = vertices[n - 1] as Vertex;
    const centre = best.parameters.map(
      (_, j) => vertices.slice(0, n).reduce((sum, v) => sum + (v.parameters[j] ?? 0), 0) / n,
    );
    const along = (factor: number): Vertex =>
      this.#at(centre.map((c, j) => c + factor * (c - (worst.parameters[j] ?? 0))));
    const reflected = along(REFLECTION);
    if (reflected.value < best.value) {
      const expanded = along(EXPANSION);
      vertices[n] = expanded.value < reflected.value ? expanded : reflected;
      return;
    }
    if (reflected.value < second.value) {
      vertices[n] = reflected;
      return;
    }
    const contracted = reflected.value < worst.value ? along(CONTRACTION) : along(-CONTRACTION);
    if (contracted.value < Math.min(reflected.value, worst.value)) {
      vertices[n] = contracted;
      return;
    }
    for (let i = 1; i <= n; i++) {
      const vertex = vertices[i] as Vertex;
      vertices[i] = this.#at(vertex.parameters.map((p, j) => ((best.parameters[j] ?? 0) + p) / 2));
    }
  }
}
