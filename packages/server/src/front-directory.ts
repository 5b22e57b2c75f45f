import { type HttpService, invariant, type ServiceFront } from '@plinth/kernel';

/** Finds the service that speaks for a path before anything is routed: every request asks twice. */
export class FrontDirectory {
  readonly #fallback: ServiceFront;
  readonly #byPath = new Map<string, ServiceFront>();
  #maxSegmentCount = 0;

  constructor(services: readonly HttpService[], fallback: ServiceFront) {
    this.#fallback = fallback;
    for (const { front } of services) {
      for (const path of front?.paths ?? []) {
        invariant(/^(\/[^/?]+)+$/.test(path), `${path} is a path without an end slash`);
        invariant(!this.#byPath.has(path), `${path} belongs to one service`);
        if (front !== undefined) this.#byPath.set(path, front);
        this.#maxSegmentCount = Math.max(this.#maxSegmentCount, path.split('/').length - 1);
      }
    }
  }

  /** @param target path and query, as in the request line. */
  find(target: string): ServiceFront {
    let found = this.#fallback;
    let end = 0;
    for (let count = 0; count < this.#maxSegmentCount && end < target.length; count++) {
      end = segmentEnd(target, end + 1);
      found = this.#byPath.get(target.slice(0, end)) ?? found;
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
