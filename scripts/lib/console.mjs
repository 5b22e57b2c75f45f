import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { compress, filesBelow, readText } from './built-files.mjs';
import { seconds } from './install.mjs';
import { root } from './root.mjs';
import { run } from './run.mjs';

const folder = path.join(root, 'packages', 'console');
const site = path.join(folder, 'dist', 'site');
const stampFile = path.join(folder, 'dist', 'site-stamp');

/** Sources of the pages, besides the packages of the lock file. */
const INPUTS = [
  ...['index.html', 'package.json', 'vite.config.ts', 'public', 'src'],
  path.join('..', 'console-core', 'src'),
  path.join('..', 'line-protocol', 'src'),
  path.join('..', 'kernel', 'src', 'clock', 'cron.ts'),
  path.join('..', 'kernel', 'src', 'live'),
];
/** Builds the files of the console and their compressed copies if the sources have changed. */
export async function buildConsole() {
  const stamp = recipe();
  if (readText(stampFile) === stamp) return;
  const startMs = performance.now();
  console.error('plinth: building the console ...');
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const code = await run(process.execPath, [vite, 'build', '--logLevel', 'warn'], { cwd: folder });
  if (code !== 0) throw new Error('the console build failed; see the messages above');
  fs.writeFileSync(path.join(site, 'sample-weather.lp'), sampleLines());
  for (const file of filesBelow(site)) compress(file);
  fs.writeFileSync(stampFile, stamp); // written last, so that an incomplete build is ignored
  console.error(`plinth: console built in ${seconds(startMs)} s`);
}

/** The sample data of the console: four years of daily weather in two cities. */
function sampleLines() {
  const file = path.join(root, 'node_modules', 'vega-datasets', 'data', 'weather.csv');
  const [, ...rows] = fs.readFileSync(file, 'utf8').trim().split(/\r?\n/);
  const lines = rows.map((row) => {
    const [location, date, precipitation, max, min, wind, kind] = row.split(',');
    const numbers = `precipitation=${precipitation},temp_max=${max},temp_min=${min},wind=${wind}`;
    const tag = location.replaceAll(' ', '\\ ');
    return `weather,location=${tag} ${numbers},kind="${kind}" ${Date.parse(`${date}T00:00:00Z`) / 1000}`;
  });
  return `${lines.join('\n')}\n`;
}

function recipe() {
  const hash = createHash('sha256')
    .update(fs.readFileSync(new URL(import.meta.url)))
    .update(readText(path.join(root, 'node_modules', '.plinth-stamp')) ?? '');
  for (const name of INPUTS) {
    const input = path.join(folder, name);
    const files = fs.statSync(input).isDirectory() ? filesBelow(input) : [input];
    for (const file of files.filter((each) => !each.endsWith('.test.ts'))) {
      hash.update(path.relative(folder, file)).update('\0').update(fs.readFileSync(file));
    }
  }
  return hash.digest('hex');
}
