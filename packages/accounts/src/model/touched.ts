/** Asks which fields a request speaks of, by dotted paths in the notation of requests. */
export class Touched {
  readonly #given: unknown;

  constructor(given: unknown) {
    this.#given = given;
  }

  /**
   * Whether the request says something at `path`, below it, or unsets something above it. A list is replaced whole,
   * so sending it touches every path in it.
   */
  has(path: string): boolean {
    let value = this.#given;
    for (const part of path.split('.')) {
      if (value === null || Array.isArray(value)) return true;
      if (typeof value !== 'object' || value === undefined) return false;
      if (!Object.hasOwn(value, part)) return false;
      value = Reflect.get(value, part);
    }
    return value !== undefined;
  }

  hasAny(paths: readonly string[]): boolean {
    return paths.some((path) => this.has(path));
  }
}
