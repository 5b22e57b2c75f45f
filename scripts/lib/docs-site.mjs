import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { compress, filesBelow, readText } from './built-files.mjs';
import { seconds } from './install.mjs';
import { withLock } from './lock.mjs';
import { root } from './root.mjs';
import { run } from './run.mjs';

const docs = path.join(root, 'docs');
const folder = path.join(docs, 'site');
const modules = path.join(folder, 'node_modules');
export const docsSite = path.join(folder, 'dist');
const stampFile = path.join(docsSite, 'stamp');
/** Configuration of the site generator. */
const OWN = ['.vitepress', 'package.json', 'package-lock.json'];
const installedFile = path.join(modules, '.plinth-stamp');

/** Builds the site and its compressed copies if the sources have changed. */
export async function buildDocs() {
  await withLock(path.join(root, '.docs.lock'), 'building the documentation', async () => {
    const stamp = recipe();
    if (readText(stampFile) === stamp) return;
    const startMs = performance.now();
    await install();
    console.error('plinth: building the documentation ...');
    fs.rmSync(docsSite, { recursive: true, force: true });
    const vitepress = path.join(modules, 'vitepress', 'bin', 'vitepress.js');
    const code = await run(process.execPath, [vitepress, 'build'], { cwd: folder });
    if (code !== 0) throw new Error('the documentation build failed; see the messages above');
    for (const name of ['hashmap.json', '404.html']) fs.rmSync(path.join(docsSite, name));
    fs.cpSync(path.join(docs, 'api'), path.join(docsSite, 'api'), { recursive: true });
    // One compression keeps the release small.
    for (const file of filesBelow(docsSite)) compress(file, ['gz']);
    fs.writeFileSync(stampFile, stamp); // written last, so that an incomplete build is ignored
    console.error(`plinth: documentation built in ${seconds(startMs)} s`);
  });
}

async function install() {
  const wanted = fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
  if (readText(installedFile) === wanted) return;
  console.error('plinth: installing the documentation generator (npm ci) ...');
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--update-notifier=false'];
  // Install scripts are not needed: programs come as packages for each platform.
  const code = await run('npm', ['ci', '--ignore-scripts', ...flags], { cwd: folder });
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}; see its messages above`);
  fs.writeFileSync(installedFile, wanted);
}

function recipe() {
  const hash = createHash('sha256').update(fs.readFileSync(new URL(import.meta.url)));
  const pages = fs.readdirSync(docs).filter((name) => name !== 'site');
  const inputs = [...pages, ...OWN.map((name) => path.join('site', name))];
  const files = inputs.flatMap((name) => {
    const input = path.join(docs, name);
    return fs.statSync(input).isDirectory() ? filesBelow(input) : [input];
  });
  for (const file of files) {
    hash.update(path.relative(docs, file)).update('\0').update(fs.readFileSync(file));
  }
  return hash.digest('hex');
}
