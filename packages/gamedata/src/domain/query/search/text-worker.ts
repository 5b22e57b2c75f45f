import { parentPort } from 'node:worker_threads';
import { invariant } from '@plinth/kernel';
import { GroupReader } from './group-texts.js';
import type { FromTextThread, ToTextThread } from './text-thread.js';

invariant(parentPort !== null, 'this module must run in a worker thread');
const port = parentPort;

port.on('message', ({ kind, language, texts: { bytes, starts } }: ToTextThread) => {
  const texts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reader = new GroupReader(kind, language);
  for (let index = 0; index + 1 < starts.length; index++) {
    reader.add(texts.toString('utf8', starts[index], starts[index + 1]));
  }
  const read = reader.finish();
  const handedOver = [
    read.starts,
    read.entries,
    read.names.bytes,
    read.names.starts,
    read.rest.bytes,
    read.rest.starts,
  ].map(({ buffer }) => buffer as ArrayBuffer); // made by `GroupReader`, each with its own buffer
  const message: FromTextThread = { read, spare: bytes };
  port.postMessage(message, [...handedOver, bytes.buffer as ArrayBuffer]); // made by `packRows` with its own buffer
});
