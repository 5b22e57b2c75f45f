import { parentPort } from 'node:worker_threads';
import { invariant } from '../errors/invariant.js';
import type { ChecksumRequest } from './checksum-thread.js';
import { crc32c } from './crc32c.js';

// Entry point of the checksum thread.
const port = parentPort;
invariant(port !== null, 'this module must run in a worker thread');

port.on('message', ({ bytes, seed }: ChecksumRequest) => port.postMessage(crc32c([bytes], seed)));
