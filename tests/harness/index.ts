export { assertEmpty, assertError, assertJson, query, rows } from './answers.js';
export { type HttpAnswer, HttpClient, type HttpRequest } from './http-client.js';
export { ServerProcess, type ServerProcessOptions } from './server-process.js';
export { type BadLine, refusal, WRITE_APIS, type WriteApi, write } from './write-endpoints.js';
