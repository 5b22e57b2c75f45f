import { KIND_WIRE, type Kind } from '../../model/kinds.js';
import { NATIVE_FORMAT } from '../exchange/native.js';
import { generateSample, SAMPLE_LANGUAGES } from './generate-sample.js';
import { readWordLists } from './words.js';

const PIECE_LENGTH = 64 * 1024;

/**
 * Writes the sample data as an import file, in chunks, so that a million records fit into memory.
 */
export async function* writeSample(options: {
  readonly seed: number;
  readonly scale: number;
}): AsyncGenerator<string> {
  const head = { format: NATIVE_FORMAT, defaultLanguage: 'en', languages: SAMPLE_LANGUAGES };
  let piece = `${JSON.stringify(head).slice(0, -1)},"kinds":{`;
  let open: Kind | undefined;
  for (const { kind, record } of generateSample({ ...options, wordLists: await readWordLists() })) {
    if (kind !== open) {
      piece += `${open === undefined ? '' : '],'}${JSON.stringify(KIND_WIRE[kind].typeKey)}:[`;
    } else piece += ',';
    open = kind;
    piece += JSON.stringify(record);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}}\n`;
}
