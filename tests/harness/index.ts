export { type HttpAnswer, HttpClient, type HttpRequest } from './http-client.js';
export { ServerProcess, type ServerProcessOptions } from './server-process.js';
