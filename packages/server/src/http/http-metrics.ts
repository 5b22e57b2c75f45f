import { Histogram, type Metric, type MetricSample, type Metrics } from '@plinth/kernel';

const DURATION_BOUNDS_SEC = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60,
];
const SIZE_BOUNDS_BYTES = [0, 256, 4096, 65_536, 1_048_576, 16_777_216];
const STATUSES = ['ok', 'client_error', 'server_error', 'unauthorized'] as const;

/** Labels of every route. */
const LABELS = ['method', 'path'] as const;
/** Path label of requests without a route: client paths are unbounded. */
const UNMATCHED = 'unmatched';

/** Request metrics per route. Label sets are resolved in advance, so that a request only adds numbers. */
export class HttpMetrics {
  /** By method and path. */
  readonly #all = new Map<string, RouteMetrics>();
  readonly unmatched = this.route('any', UNMATCHED);

  constructor(metrics: Metrics) {
    metrics.add(
      this.#metric(
        {
          name: 'http_requests_total',
          help: 'HTTP requests by outcome.',
          type: 'counter',
          labels: [...LABELS, 'status'],
        },
        (routeMetrics) =>
          STATUSES.map((status, index) => ({
            labels: { ...routeMetrics.labels, status },
            value: routeMetrics.countByStatus[index] ?? 0,
          })).filter(({ value }) => value > 0),
      ),
    );
    metrics.add(
      this.#histogram(
        'http_request_duration_seconds',
        'Time from the request line to the last byte of the response.',
        ({ durationSec }) => durationSec,
      ),
    );
    metrics.add(
      this.#histogram(
        'http_response_body_size_bytes',
        'Size of responses whose length is known in advance.',
        ({ sizeBytes }) => sizeBytes,
      ),
    );
  }

  route(method: string, path: string): RouteMetrics {
    const key = `${method} ${path}`;
    let routeMetrics = this.#all.get(key);
    if (routeMetrics === undefined) {
      routeMetrics = new RouteMetrics({ method, path });
      this.#all.set(key, routeMetrics);
    }
    return routeMetrics;
  }

  #histogram(name: string, help: string, pick: (routeMetrics: RouteMetrics) => Histogram) {
    return this.#metric({ name, help, type: 'histogram', labels: LABELS }, (routeMetrics) =>
      pick(routeMetrics).samples(name, routeMetrics.labels),
    );
  }

  #metric(
    options: Omit<Metric, 'samples'>,
    samples: (routeMetrics: RouteMetrics) => readonly MetricSample[],
  ): Metric {
    return { ...options, samples: () => [...this.#all.values()].flatMap(samples) };
  }
}

export class RouteMetrics {
  readonly labels: Readonly<Record<string, string>>;
  readonly countByStatus: number[] = STATUSES.map(() => 0);
  readonly durationSec = new Histogram(DURATION_BOUNDS_SEC);
  readonly sizeBytes = new Histogram(SIZE_BOUNDS_BYTES);

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels;
  }

  /** Counts a response; its size is counted only if known in advance. */
  count(response: {
    readonly status: number;
    readonly durationMs: number;
    readonly sizeBytes: number | undefined;
  }): void {
    const index = statusIndex(response.status);
    this.countByStatus[index] = (this.countByStatus[index] ?? 0) + 1;
    this.durationSec.observe(response.durationMs / 1000);
    if (response.sizeBytes !== undefined) this.sizeBytes.observe(response.sizeBytes);
  }
}

function statusIndex(status: number): number {
  if (status < 400) return 0;
  if (status === 401) return 3;
  return status < 500 ? 1 : 2;
}
