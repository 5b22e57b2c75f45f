import { type Dialect, type HttpHead, invariant } from '@plinth/kernel';

/** Finds who speaks for a path that no route has. */
export class DialectDirectory {
  readonly #fallback: Dialect;
  readonly #byPath = new Map<string, Dialect>();
  readonly #claiming: Dialect[] = [];
  #maxSegmentCount = 0;

  constructor(fallback: Dialect) {
    this.#fallback = fallback;
    this.add(fallback);
  }

  add(dialect: Dialect): void {
    if (dialect.claims !== undefined) this.#claiming.push(dialect);
    for (const path of dialect.paths) {
      const isPath = path === '/' || /^(\/[^/?]+)+$/.test(path);
      invariant(isPath, `${path} is a path without an end slash`);
      const known = this.#byPath.get(path);
      invariant(known === undefined || known === dialect, `${path} belongs to one dialect`);
      this.#byPath.set(path, dialect);
      this.#maxSegmentCount = Math.max(this.#maxSegmentCount, path.split('/').length - 1);
    }
  }

  /** By its path; outside of all, by whose client it is. */
  of(request: HttpHead): Dialect {
    return (
      this.#named(request.url) ??
      this.#claiming.find((dialect) => dialect.claims?.(request)) ??
      this.#fallback
    );
  }

  /** @param target path and query. */
  find(target: string): Dialect {
    return this.#named(target) ?? this.#fallback;
  }

  /** The longest path above `target` that a dialect speaks for. */
  baseOf(target: string): string | undefined {
    return this.#longest(target)?.path;
  }

  #named(target: string): Dialect | undefined {
    return this.#longest(target)?.dialect;
  }

  #longest(target: string): { readonly path: string; readonly dialect: Dialect } | undefined {
    let found: { readonly path: string; readonly dialect: Dialect } | undefined;
    let end = 0;
    for (let count = 0; count < this.#maxSegmentCount && end < target.length; count++) {
      end = segmentEnd(target, end + 1);
      const path = target.slice(0, end);
      const dialect = this.#byPath.get(path);
      if (dialect !== undefined) found = { path, dialect };
      if (target[end] !== '/') break;
    }
    return found;
  }
}

/** Position of the next slash or question mark, or the end of `target`. */
function segmentEnd(target: string, start: number): number {
  for (let index = start; index < target.length; index++) {
    const char = target[index];
    if (char === '/' || char === '?') return index;
  }
  return target.length;
}
