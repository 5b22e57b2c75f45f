import { SAMPLE_DATABASE } from '../lib/samples.js';
import { send } from './client.js';
import { writeLines } from './tsdb.js';

/** Writes what came with the console into a database of its own. */
export async function writeSampleData(): Promise<void> {
  const lines = await (await send('/console/sample-weather.lp', { isOpen: true })).text();
  await writeLines({ db: SAMPLE_DATABASE, precision: 'second', lines });
}
