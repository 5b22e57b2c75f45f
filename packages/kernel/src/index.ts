export { BatchWriter } from './batch/batch-writer.js';
export { ChecksumThread } from './checksum/checksum-thread.js';
export { crc32c } from './checksum/crc32c.js';
export type { Clock } from './clock/clock.js';
export { CronSchedule } from './clock/cron.js';
export { hasExpired } from './clock/has-expired.js';
export type { Random } from './clock/random.js';
export { BASE62, randomLetters } from './clock/random-letters.js';
export { repeatJob } from './clock/repeat-job.js';
export { SystemClock } from './clock/system-clock.js';
export { SystemRandom } from './clock/system-random.js';
export { whenIdle } from './clock/when-idle.js';
export type { CommitLog } from './commit-log/commit-log.js';
export { openCommitLog } from './commit-log/file-commit-log.js';
export {
  type LogCheckpoint,
  type LogCheckpointStore,
  type LogEnd,
  NO_CHECKPOINT,
  type RecordRef,
} from './commit-log/log-checkpoint.js';
export { logError } from './commit-log/log-errors.js';
export type { LogLoss } from './commit-log/log-loss.js';
export { type CheckedLogFile, checkLog } from './commit-log/recovery/log-recovery.js';
export { type ListedSetting, listSettings } from './config/list-settings.js';
export {
  ConfigInvalid,
  type LoadedSettings,
  loadSettings,
  type SettingsSources,
  settingOrigins,
} from './config/load-settings.js';
export {
  defineSettings,
  describeSettings,
  givenWithoutEffect,
  type SettingAliases,
  type SettingDescription,
  type SettingsOf,
  type SettingsSection,
} from './config/section.js';
export { defaultText, settingsPage } from './config/settings-page.js';
export { SecretBox, SecretUnreadable } from './crypto/secret-box.js';
export { AttemptMetrics } from './deliver/attempt-metrics.js';
export {
  EGRESS_PATTERNS,
  EgressSender,
  type EgressSettings,
} from './deliver/egress-sender.js';
export { maskUrl, maskUrlAndQuery, queryPieces, URL_MASK } from './deliver/mask-url.js';
export { isSuccess, type Outcome } from './deliver/outcome.js';
export type { OutgoingRequest } from './deliver/send-request.js';
export {
  hostOf,
  type OwnListener,
  portOf,
  TargetGuard,
  type TargetRefusal,
} from './deliver/target-guard.js';
export { causesOf } from './errors/causes-of.js';
export {
  asGiven,
  type ErrorCatalogue,
  type ErrorOf,
  errorCatalogue,
  isDomainError,
} from './errors/domain-error.js';
export { assertNever, InvariantBroken, invariant } from './errors/invariant.js';
export { messageOf } from './errors/message-of.js';
export { asDiskFull, DiskFull } from './fs/disk-full.js';
export { DiskSpace, type FreeDiskSpace } from './fs/disk-space.js';
export { fileLimit } from './fs/file-limit.js';
export type { FileHandle, FileSystem } from './fs/file-system.js';
export { FOLDER_LOCK_FILES, FolderLock } from './fs/folder-lock.js';
export { freeBytesOf } from './fs/free-bytes.js';
export { machineMemoryBytes } from './fs/machine-memory.js';
export { moveAside, repairedName, replaceDamaged } from './fs/move-aside.js';
export { NodeFileSystem } from './fs/node-file-system.js';
export { threadPoolSize } from './fs/thread-pool.js';
export { acceptedTypes, listedTypes } from './http/accepted-types.js';
export { AppJwtRefused } from './http/access/app-jwt-refused.js';
export {
  bearerOf,
  readAuthorization,
  readExactAuthorization,
} from './http/access/authorization.js';
export { Cors, type CorsTerms } from './http/access/cors.js';
export {
  ACTIONS,
  type Action,
  ALL_RESOURCES,
  type Permission,
  permissionText,
  permits,
} from './http/access/permission.js';
export {
  ANONYMOUS,
  type Grantee,
  LIMIT,
  LIMIT_WINDOW,
  type LimitOverride,
  type LimitProfile,
  type Principal,
} from './http/access/principal.js';
export {
  OPENABLE_ENDPOINTS,
  type OpenableEndpoint,
  type PrincipalOf,
  type RouteAccess,
  refusalOf,
} from './http/access/route-access.js';
export { loginOfUrl } from './http/access/url-login.js';
export type { ApiConventions, ApiRefusals } from './http/api-conventions.js';
export {
  BodyBudget,
  type BodyReservation,
} from './http/body/body-budget.js';
export { decodeBody, encodingOf } from './http/body/decode-body.js';
export { gunzipBounded } from './http/body/gunzip.js';
export { JsonExcessive, refuseExcessiveJson } from './http/body/json-bounds.js';
export { isJsonType } from './http/body/json-type.js';
export { jsonUnreadable, parseJson } from './http/body/parse-json.js';
export { readBody, refuseOversize } from './http/body/read-body.js';
export { chooseCoding } from './http/coding/choose-coding.js';
export { encodeResponse } from './http/coding/encode-response.js';
export { CredentialUncheckable } from './http/credential-uncheckable.js';
export { namesTag } from './http/entity-tag.js';
export { docsBaseAt } from './http/github/docs-base.js';
export { githubErrorResponse } from './http/github/github-errors.js';
export {
  type FieldError,
  GITHUB_REFUSALS,
  githubFailure,
  githubFailureResponse,
  githubResponse,
  isoSeconds,
  operatorDocs,
  operatorFailure,
} from './http/github/github-format.js';
export {
  invalidField,
  jsonObjectOf,
  jsonOf,
  ValidationFailed,
} from './http/github/github-requests.js';
export { operatorRoute } from './http/github/operator-route.js';
export { PER_PAGE, pageSize } from './http/github/page-size.js';
export { faultOfHead, type HeadFault, headFaultResponse } from './http/head-fault.js';
export { HEALTH_SUMMARY, notReady, readsHealthInJson } from './http/health.js';
export {
  type HttpHead,
  type HttpHeaders,
  type HttpRequest,
  pathOf,
  queryOf,
} from './http/http-request.js';
export {
  bytesResponse,
  emptyResponse,
  type HeaderList,
  type HttpResponse,
  jsonResponse,
  piecesResponse,
  textResponse,
  withHeaders,
} from './http/http-response.js';
export type {
  BackupMoment,
  FrozenFile,
  FrozenFiles,
  HttpService,
} from './http/http-service.js';
export { linkValue } from './http/link-value.js';
export { normalTarget } from './http/normal-target.js';
export {
  type ApiDescription,
  type ApiDocs,
  type DescribedRoute,
  describeApi,
  OpenApi,
} from './http/open-api.js';
export { escapeHtml, pageResponse } from './http/page-response.js';
export { type InputReader, inputReader } from './http/read-input.js';
export { type RequestError, requestError } from './http/request-error.js';
export {
  type GateRequest,
  LIMIT_HEADERS,
  type Pass,
  type Refused,
  type RequestGate,
} from './http/request-gate.js';
export {
  type BodyRule,
  checkedRoute,
  type DownloadRequest,
  type Route,
  type RouteGroup,
  type RouteInput,
  type RouteMethod,
  type RouteOutput,
} from './http/route.js';
export type { RouteCost } from './http/route-cost.js';
export {
  described,
  type RouteDescription,
  type RouteDocs,
} from './http/route-docs.js';
export { ServerBusy } from './http/server-busy.js';
export { EventLoopYielder } from './lease/event-loop-yielder.js';
export { Exclusive } from './lease/exclusive.js';
export type { Leases } from './lease/lease.js';
export { LocalLeases } from './lease/local-leases.js';
export { RoundRobin } from './lease/round-robin.js';
export type { LiveSource, NotifyLive } from './live/live-source.js';
export { LiveStream, MAX_WAITING_BYTES } from './live/live-stream.js';
export { watchState } from './live/watch-state.js';
export { LineFile } from './log/line-file.js';
export { LogRing } from './log/log-ring.js';
export { createLogger, type LogDestination, type Logger, type LogLevel } from './log/logger.js';
export { redactTarget, redactText } from './log/redact.js';
export { Memo } from './memo/memo.js';
export { Histogram } from './metrics/histogram.js';
export { type Metric, type MetricSample, unitOf } from './metrics/metric.js';
export { type Counter, Metrics, type RegisteredMetric } from './metrics/metrics.js';
export { type BindAddress, splitBind } from './net/bind-address.js';
export { type ClientAddress, ClientAddresses } from './net/client-address.js';
export { type CountTogether, GuessGuard } from './net/guess-guard.js';
export { addressKey, type Network, networkMatcher, networkProblems } from './net/networks.js';
export { LocalObjectStore } from './objects/local-object-store.js';
export { objectError } from './objects/object-errors.js';
export type {
  BucketStore,
  ByteRange,
  FolderObjectStore,
  ObjectStore,
  UploadContent,
} from './objects/object-store.js';
export { type BucketOwner, probeBucket } from './objects/probe-bucket.js';
export {
  S3_OPERATIONS,
  S3ObjectStore,
  type S3Operation,
  type S3Options,
} from './objects/s3-object-store.js';
export type { NewEvent, Outbox, OutboxEvent, ReportEvent } from './outbox/outbox.js';
export { RelationalOutbox } from './outbox/relational-outbox.js';
export { openPostgresStore } from './relational/postgres/open-postgres-store.js';
export {
  RawStatements,
  type SqlConnection,
  type Statement,
  type StatementValue,
} from './relational/raw-statements.js';
export { storeError } from './relational/relational-errors.js';
export type {
  DatabaseSystem,
  EmbeddedStore,
  Migration,
  RelationalStore,
  SharedStore,
} from './relational/relational-store.js';
export { SHARED_NOW_MS } from './relational/shared-now.js';
export { readableStore } from './relational/sqlite/closed-store.js';
export {
  checkClosedDatabase,
  checkDatabase,
  copyDatabase,
} from './relational/sqlite/database-task.js';
export { CHECKED_AT_OPENING_BYTES, openRelationalStore } from './relational/sqlite/sqlite-store.js';
export { asOutage, type Outage, StoreOutage } from './relational/store-outage.js';
export { inputCheck } from './schema/input-check.js';
export { isObject } from './schema/is-object.js';
export { mergePatch } from './schema/merge-patch.js';
export { hasLoneSurrogate, isPlainText, isSafeName, SAFE_IN_NAMES } from './schema/plain-text.js';
export { RequestInvalid } from './schema/request-invalid.js';
export type { SchemaFailure } from './schema/schema-failure.js';
export { EditDistance } from './text/edit-distance.js';
export { toAsciiLowerCase } from './text/to-ascii-lower-case.js';
export { WorkerClient } from './threads/worker-client.js';
export { OtlpTracer } from './tracing/otlp-tracer.js';
export { requestIdOf, withRequestId } from './tracing/request-id.js';
export { type RequestSpan, RequestTracing } from './tracing/request-tracing.js';
export type { Tracer } from './tracing/tracer.js';
