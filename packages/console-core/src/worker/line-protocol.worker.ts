import { CsvFault, checkLines, readCsvHead } from '@plinth/line-protocol';
import type { LineReply, LineRequest } from '../lib/line-protocol/messages.js';
import { piecesOf, previewCsv, SendFailed, writeCsv } from './convert-csv.js';

/** The number of rows from which the column types are guessed. */
const HEAD_ROW_COUNT = 1000;
const running = new Map<number, AbortController>();
const postReply = (reply: LineReply): void => self.postMessage(reply);

self.addEventListener('message', ({ data }: MessageEvent<LineRequest>) => {
  if (data.kind === 'cancel') {
    running.get(data.id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(data.id, controller);
  void respond(data, controller.signal)
    .catch((error: unknown) => {
      const { id } = data;
      const message = error instanceof Error ? error.message : String(error);
      if (controller.signal.aborted) return;
      if (error instanceof SendFailed)
        postReply({ kind: 'failed', id, status: error.status, message });
      else if (error instanceof CsvFault) postReply({ kind: 'unreadable', id, message });
      else postReply({ kind: 'unreadable', id, message: `the file cannot be read: ${message}` });
    })
    .finally(() => running.delete(data.id));
});

async function respond(
  request: Exclude<LineRequest, { readonly kind: 'cancel' }>,
  signal: AbortSignal,
): Promise<void> {
  const { id } = request;
  switch (request.kind) {
    case 'check':
      postReply({ kind: 'checked', id, check: checkLines(request.text) });
      return;
    case 'head': {
      const head = await readCsvHead(piecesOf(request.file, signal), HEAD_ROW_COUNT);
      postReply({ kind: 'head', id, head });
      return;
    }
    case 'preview':
    case 'write': {
      const convert = request.kind === 'preview' ? previewCsv : writeCsv;
      const progress = await convert(request, signal, (so) =>
        postReply({ kind: 'progress', id, progress: so }),
      );
      postReply({ kind: 'done', id, progress });
    }
  }
}
