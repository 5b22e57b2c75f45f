import { type Dialect, type HttpHead, invariant } from '@plinth/kernel';

/** Finds the dialect for a path without a route. */
export class DialectDirectory {
  readonly #fallback: Dialect;
  readonly #byPath = new Map<string, Dialect>();
  readonly #byCredential: Dialect[] = [];
  #maxSegmentCount = 0;

  constructor(fallback: Dialect) {
    this.#fallback = fallback;
    this.add(fallback);
  }

  add(dialect: Dialect): void {
    if (dialect.hasOwnCredential !== undefined) this.#byCredential.push(dialect);
    for (const path of dialect.paths) {
      const isPath = path === '/' || /^(\/[^/?]+)+$/.test(path);
      invariant(isPath, `${path} must be a path without a trailing slash`);
      const cached = this.#byPath.get(path);
      invariant(cached === undefined || cached === dialect, `${path} must have only one dialect`);
      this.#byPath.set(path, dialect);
      this.#maxSegmentCount = Math.max(this.#maxSegmentCount, path.split('/').length - 1);
    }
  }

  /** Returns the dialect by path or, outside all known paths, by the client. */
  of(request: HttpHead): Dialect {
    return (
      this.#named(request.url) ??
      this.#byCredential.find((dialect) => dialect.hasOwnCredential?.(request)) ??
      this.#fallback
    );
  }

  /** @param target path and query string. */
  find(target: string): Dialect {
    return this.#named(target) ?? this.#fallback;
  }

  /** Returns the longest prefix of `target` that has a dialect. */
  baseOf(target: string): string | undefined {
    return this.#longest(target)?.path;
  }

  #named(target: string): Dialect | undefined {
    return this.#longest(target)?.dialect;
  }

  #longest(target: string): { readonly path: string; readonly dialect: Dialect } | undefined {
    let match: { readonly path: string; readonly dialect: Dialect } | undefined;
    let end = 0;
    for (let count = 0; count < this.#maxSegmentCount && end < target.length; count++) {
      end = segmentEnd(target, end + 1);
      const path = target.slice(0, end);
      const dialect = this.#byPath.get(path);
      if (dialect !== undefined) match = { path, dialect };
      if (target[end] !== '/') break;
    }
    return match;
  }
}

/** Returns the index of the next slash or `?`, or the length of `target`. */
function segmentEnd(target: string, start: number): number {
  for (let index = start; index < target.length; index++) {
    const char = target[index];
    if (char === '/' || char === '?') return index;
  }
  return target.length;
}
