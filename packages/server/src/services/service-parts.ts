import type { Identity } from '@plinth/identity';
import type {
  ApiConventions,
  ClientAddresses,
  Clock,
  Logger,
  Metrics,
  Outbox,
  Random,
  RequestSpan,
  Tracer,
} from '@plinth/kernel';
import type { Stores } from '../folder/stores.js';
import type { AuditLog } from '../operator/audit-log.js';
import type { Settings } from '../settings.js';
import type { Reports } from './reports.js';

/** Dependencies of each service's wiring. */
export interface ServiceParts {
  readonly settings: Settings;
  readonly stores: Stores;
  readonly identity: Identity;
  /** Determines client addresses. */
  readonly addresses: ClientAddresses;
  /** The API conventions of paths without a service. */
  readonly conventions: ApiConventions;
  /** Services subscribe before any of them starts. */
  readonly outbox: Outbox;
  /** Log of administrative changes. */
  readonly audit: AuditLog;
  readonly reports: Reports;
  readonly metrics: Metrics;
  /** `undefined` if tracing is disabled. */
  readonly tracer: Tracer | undefined;
  /** The span of the current request; `undefined` if not traced. */
  readonly currentSpan: (() => RequestSpan | undefined) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** A child logger with the service's name. */
  readonly log: Logger;
}
