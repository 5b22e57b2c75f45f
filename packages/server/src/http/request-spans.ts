import {
  pathOf,
  queryOf,
  type RequestSpan,
  type RequestTracing,
  redactTarget,
} from '@plinth/kernel';
import type { Exchange } from './exchange.js';

/** Only requests of the time-series service are traced. */
const TRACED = 'tsdb';
/** Query parameters that contain a database. */
const DATABASE_PARAMETERS = ['db', 'bucket', 'database'] as const;

/** A span for each sampled request of the time-series service. Attributes: OpenTelemetry semantic conventions 1.30, HTTP and database. */
export class RequestSpans {
  readonly #tracing: RequestTracing;

  constructor(tracing: RequestTracing) {
    this.#tracing = tracing;
  }

  begin({ match, conventions, request }: Exchange): RequestSpan | undefined {
    const isTraced = match !== undefined && conventions.service === TRACED;
    return isTraced ? this.#tracing.begin(request.headers['traceparent']) : undefined;
  }

  run<T>(span: RequestSpan, work: () => T): T {
    return this.#tracing.run(span, work);
  }

  /** Must be called after the complete response was sent or the client disconnected. */
  end(span: RequestSpan, { request, match, response }: Exchange): void {
    const { method, url } = request;
    const route = match?.registered.route.path ?? '';
    const status = response?.status;
    const parameters = new URLSearchParams(queryOf(url));
    const namespace = DATABASE_PARAMETERS.map((name) => parameters.get(name)).find(Boolean);
    span.end(`${method} ${route}`, status !== undefined && status >= 500, {
      'http.request.method': method,
      'http.route': route,
      'url.path': redactTarget(pathOf(url)),
      'url.scheme': 'encrypted' in request.socket ? 'https' : 'http',
      'http.request.body.size': request.body.length,
      'db.system.name': 'influxdb',
      ...(namespace && { 'db.namespace': namespace }),
      // No status: the client disconnected before the response.
      ...(status !== undefined && { 'http.response.status_code': status }),
      ...(status !== undefined && status >= 500 && { 'error.type': String(status) }),
    });
  }
}
