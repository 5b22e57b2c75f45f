export {
  type AccountsCall,
  AccountsServer,
  type Json,
  KEYS,
  type KeyName,
} from './accounts-server.js';
export { Chance } from './chance.js';
export { DatabaseCable, layDatabaseCable } from './database-cable.js';
export { buildSite } from './documentation.js';
export { EgressProxy } from './egress-proxy.js';
export { EventLoopDelay } from './event-loop-delay.js';
export { EventReceiver } from './event-receiver.js';
export { freePort, freePorts } from './free-ports.js';
export { HttpClient, type HttpRequest, type HttpResponse } from './http-client.js';
export { Http2Client } from './http2-client.js';
export { type LiveEvent, LiveStream } from './live-stream.js';
export {
  BUCKET,
  bucketFlags,
  type ObjectStoreProcess,
  startMoto,
  startS3rver,
  startVersitygw,
} from './object-stores.js';
export { type PythonPackages, pythonWith } from './python.js';
export { RawConnection } from './raw-connection.js';
export { tokensThatRead } from './read-tokens.js';
export { assertEmpty, assertError, assertJson, query, rows } from './responses.js';
export { FLUSH_AT_ONCE, untilInFiles } from './rows-in-files.js';
export { runProgram } from './run-program.js';
export type { OwnServer, RunningServer } from './running-server.js';
export { ServerInProcess } from './server-in-process.js';
export {
  ServerProcess,
  type ServerProcessOptions,
  StartFailed,
  WITH_SAMPLE_DATA,
} from './server-process.js';
export { SHARED_ENV, SharedNodes, until } from './shared-nodes.js';
export { SharedServer } from './shared-server.js';
export { temporaryFolder } from './temporary-folder.js';
export { type TestCertificate, testCertificate, tlsFlags } from './test-certificate.js';
export { POSTGRES_URL, TestDatabase } from './test-database.js';
export { Trino } from './trino.js';
export { type DeliveryItem, makeJwt, nowSec, WebhookApp } from './webhook-app.js';
export {
  type ReceivedDelivery,
  type ResponseDelivery,
  WebhookReceiver,
} from './webhook-receiver.js';
export {
  type BadLine,
  badLine,
  refusal,
  WRITE_APIS,
  type WriteApi,
  write,
} from './write-endpoints.js';
