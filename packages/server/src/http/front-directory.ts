import { type HttpService, invariant, type RequestGate, type ServiceFront } from '@plinth/kernel';

/** Who speaks for a path. */
export interface FrontDesk {
  readonly service: string;
  readonly front: ServiceFront;
  /** `undefined`: no gate stands in front of this service. */
  readonly gate: RequestGate | undefined;
}

/** Finds the service that speaks for a path before anything is routed: every request asks twice. */
export class FrontDirectory {
  readonly #fallback: FrontDesk;
  readonly #byPath = new Map<string, FrontDesk>();
  #maxSegmentCount = 0;

  constructor(services: readonly HttpService[], fallback: FrontDesk, gate?: RequestGate) {
    this.#fallback = fallback;
    const desks = services.flatMap(({ name, front }): FrontDesk[] =>
      front === undefined
        ? []
        : [{ service: name, front, gate: gate?.covers(name) ? gate : undefined }],
    );
    for (const desk of [fallback, ...desks]) {
      for (const path of desk.front.paths) {
        const isPath = path === '/' || /^(\/[^/?]+)+$/.test(path);
        invariant(isPath, `${path} is a path without an end slash`);
        invariant(!this.#byPath.has(path), `${path} belongs to one service`);
        this.#byPath.set(path, desk);
        this.#maxSegmentCount = Math.max(this.#maxSegmentCount, path.split('/').length - 1);
      }
    }
  }

  /** @param target path and query, as in the request line. */
  find(target: string): FrontDesk {
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
