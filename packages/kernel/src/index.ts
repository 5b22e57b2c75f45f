export type { Clock } from './clock/clock.js';
export type { Random } from './clock/random.js';
export { SystemClock } from './clock/system-clock.js';
export { SystemRandom } from './clock/system-random.js';
export { assertNever, InvariantBroken, invariant } from './errors/invariant.js';
export type { FileHandle, FileStat, FileSystem } from './fs/file-system.js';
export type { HttpService } from './http/http-service.js';
export type { Authenticator, Principal } from './http/principal.js';
export type { RequestGate } from './http/request-gate.js';
export type {
  AppendedRecord,
  CommitLog,
  LogPosition,
  ReplayedRecord,
} from './journal/commit-log.js';
export type { Leases } from './lease/lease.js';
export type { ObjectInfo, ObjectStore } from './objects/object-store.js';
export type { Outbox, OutboxEvent } from './outbox/outbox.js';
export type { Migration, RelationalStore } from './relational/relational-store.js';
