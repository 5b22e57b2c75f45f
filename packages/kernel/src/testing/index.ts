export { CallFailed, type CallFault, CallFaults } from './call-faults.js';
export { caseCount } from './case-count.js';
export {
  failingBucket,
  failingLogFiles,
  failingObjectStore,
  failingRelationalStore,
  LOG_CALLS,
  OBJECT_CALLS,
  RELATIONAL_CALLS,
} from './failing-stores.js';
export { FakeS3 } from './fake-s3.js';
export { fileSystemConformance } from './file-system-conformance.js';
export { ManualClock } from './manual-clock.js';
export { objectStoreConformance } from './object-store-conformance.js';
export { POSTGRES_URL, PostgresDatabase } from './postgres-database.js';
export { relationalStoreConformance } from './relational-store-conformance.js';
export { requestHead } from './request-head.js';
export { SeededRandom } from './seeded-random.js';
export type { SimFaults } from './sim-faults.js';
export { SimFileSystem } from './sim-file-system.js';
export { temporaryFolder } from './temporary-folder.js';
export { type TestRequest, type TestResponse, TestRoutes } from './test-routes.js';
