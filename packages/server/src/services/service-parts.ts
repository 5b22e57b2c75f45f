import type { Identity } from '@plinth/identity';
import type {
  ClientAddresses,
  Clock,
  Dialect,
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

/** What the composition root hands to each service's own wiring. */
export interface ServiceParts {
  readonly settings: Settings;
  readonly stores: Stores;
  readonly identity: Identity;
  /** Where requests come from. */
  readonly addresses: ClientAddresses;
  /** Of what no service has a dialect for. */
  readonly dialect: Dialect;
  /** Subscribers come before any service starts. */
  readonly outbox: Outbox;
  /** Who changed what. */
  readonly audit: AuditLog;
  readonly reports: Reports;
  readonly metrics: Metrics;
  /** `undefined`: tracing is off. */
  readonly tracer: Tracer | undefined;
  /** Of the request that code runs for; `undefined`: it is not traced. */
  readonly currentSpan: (() => RequestSpan | undefined) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Already named after the service. */
  readonly log: Logger;
}
