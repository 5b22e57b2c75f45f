import { SAMPLE_DATABASE } from '../lib/samples.js';
import { send } from './client.js';
import { writeLines } from './tsdb.js';

/** Writes the sample data that is shipped with the console to its own database. */
export async function writeSampleData(): Promise<void> {
  const lines = await (await send('/console/sample-weather.lp', { isOpen: true })).text();
  await writeLines({ db: SAMPLE_DATABASE, precision: 'second', lines });
}
