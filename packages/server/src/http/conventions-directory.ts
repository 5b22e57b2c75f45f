import { type ApiConventions, type HttpHead, invariant } from '@plinth/kernel';

/** Finds the API conventions for a path without a route. */
export class ConventionsDirectory {
  readonly #fallback: ApiConventions;
  readonly #byPath = new Map<string, ApiConventions>();
  readonly #byCredential: ApiConventions[] = [];
  #maxSegmentCount = 0;

  constructor(fallback: ApiConventions) {
    this.#fallback = fallback;
    this.add(fallback);
  }

  add(conventions: ApiConventions): void {
    if (conventions.hasOwnCredential !== undefined) this.#byCredential.push(conventions);
    for (const path of conventions.paths) {
      const isPath = path === '/' || /^(\/[^/?]+)+$/.test(path);
      invariant(isPath, `${path} must be a path without a trailing slash`);
      const cached = this.#byPath.get(path);
      invariant(
        cached === undefined || cached === conventions,
        `${path} must have only one conventions`,
      );
      this.#byPath.set(path, conventions);
      this.#maxSegmentCount = Math.max(this.#maxSegmentCount, path.split('/').length - 1);
    }
  }

  /** Returns the API conventions by path or, outside all known paths, by the client. */
  of(request: HttpHead): ApiConventions {
    return (
      this.#named(request.url) ??
      this.#byCredential.find((conventions) => conventions.hasOwnCredential?.(request)) ??
      this.#fallback
    );
  }

  /** @param target path and query string. */
  find(target: string): ApiConventions {
    return this.#named(target) ?? this.#fallback;
  }

  /** Returns the longest prefix of `target` that has API conventions. */
  baseOf(target: string): string | undefined {
    return this.#longest(target)?.path;
  }

  #named(target: string): ApiConventions | undefined {
    return this.#longest(target)?.conventions;
  }

  #longest(
    target: string,
  ): { readonly path: string; readonly conventions: ApiConventions } | undefined {
    let match: { readonly path: string; readonly conventions: ApiConventions } | undefined;
    let end = 0;
    for (let count = 0; count < this.#maxSegmentCount && end < target.length; count++) {
      end = segmentEnd(target, end + 1);
      const path = target.slice(0, end);
      const conventions = this.#byPath.get(path);
      if (conventions !== undefined) match = { path, conventions };
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
