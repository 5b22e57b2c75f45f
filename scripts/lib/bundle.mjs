import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { readText } from './built-files.mjs';
import { bundleFolder as folder, root } from './root.mjs';

const program = path.join(root, 'packages', 'cli', 'dist', 'program.js');
/** The tests start servers in their own process from it, because loading the modules takes two seconds of CPU. */
const server = path.join(root, 'packages', 'server', 'dist', 'index.js');
const stampFile = path.join(folder, 'stamp.json');

/** These packages load files from their own folders at run time: native code and a WebAssembly file. */
const EXTERNAL = ['libsql', '@duckdb/node-bindings', '@guanmingchiu/sqlparser-ts'];

/** Matches references to a module's own location: the entry file of a worker thread, or another file. */
const OWN_URL = /new URL\('\.\/([\w-]+-worker)\.js', import\.meta\.url\)|import\.meta\.url/g;
/** Matches a thread whose entry file the bundle would not contain. */
const OTHER_WORKER =
  /new Worker\(\s*new URL\('\.\/((?![\w-]*-worker\.js')[\w-]+)\.js', import\.meta\.url\)/;

/**
 * Bundles the compiled program and its packages into a few files. Without a bundle, most of the startup time is spent
 * on finding and reading about two thousand files. `main.js` runs the bundle if it is newer than all compiled files,
 * and the modules otherwise. Takes a few milliseconds if the bundle is current.
 */
export async function bundle() {
  const stamp = JSON.stringify({ made: recipe(), inputs: inputs() });
  if (readText(stampFile) === stamp) return;
  fs.rmSync(folder, { recursive: true, force: true });
  for (const entryPoints of entries()) await esbuild.build(modules(entryPoints));
  fs.writeFileSync(stampFile, stamp); // written last, so that an incomplete bundle is ignored
}

/** Returns `inputs` and `outputs` of esbuild's metafile: the modules in the bundle, and its imports at run time. */
export async function describeBundle() {
  const described = { inputs: {}, outputs: {} };
  for (const entryPoints of entries()) {
    const options = { ...modules(entryPoints), metafile: true, write: false };
    const { inputs, outputs } = (await esbuild.build(options)).metafile;
    Object.assign(described.inputs, inputs);
    Object.assign(described.outputs, outputs);
  }
  return described;
}

/** Worker threads are bundled separately. Otherwise shared modules become extra files, and each file slows down startup. */
const entries = () => [
  [
    { in: program, out: 'program' },
    { in: server, out: 'server' },
  ],
  listWorkers(),
];

/** esbuild options. Code splitting produces a few modules, and each command loads only the ones it needs. */
function modules(entryPoints) {
  return {
    ...COMMON,
    entryPoints,
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    format: 'esm',
    // CommonJS packages load Node's built-in modules with `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [keepPlaces, keepLatePackages],
  };
}

/**
 * Modules keep finding their data files relative to their compiled location. Threads start from the bundled file of
 * the same name.
 */
const keepPlaces = {
  name: 'keep-places',
  setup(build) {
    build.onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]dist[\\/].*\.js$/ }, (args) => {
      const text = fs.readFileSync(args.path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const [, other] = OTHER_WORKER.exec(text) ?? [];
      if (other !== undefined)
        throw new Error(
          `${args.path}: ${other}.js is not in the bundle; name the entry file of a thread ...-worker.ts`,
        );
      const place = path.relative(folder, args.path).replaceAll(path.sep, '/');
      const contents = text.replace(OWN_URL, (_, worker) =>
        worker === undefined
          ? `new URL('${place}', import.meta.url).href`
          : `new URL('./${worker}.mjs', import.meta.url)`,
      );
      return { contents, loader: 'js' };
    });
  },
};

/**
 * Packages that are loaded on demand stay outside the bundle. They do not slow down startup, and CommonJS exports
 * keep their names.
 */
const keepLatePackages = {
  name: 'keep-late-packages',
  setup(build) {
    build.onResolve({ filter: /^[^.]/ }, ({ kind, path: name }) =>
      kind === 'dynamic-import' && !name.startsWith('@plinth/') ? { external: true } : undefined,
    );
  },
};

const COMMON = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  external: EXTERNAL,
  legalComments: 'none',
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

/** Lists the compiled workers from the sources. dist/ may still contain the old file of a worker that was moved. */
function listWorkers() {
  return packageFolders().flatMap((dist) =>
    fs
      .readdirSync(path.join(dist, '..', 'src'), { recursive: true })
      .filter((name) => name.endsWith('-worker.ts'))
      .map((name) => path.join(dist, name.replace(/\.ts$/, '.js'))),
  );
}

/** The compiler updates `.tsbuildinfo` with every file that it writes. */
function inputs() {
  return packageFolders().map((dist) => {
    const file = path.join(dist, '.tsbuildinfo');
    const { size, mtimeMs } = fs.statSync(file);
    return [path.relative(folder, file).replaceAll(path.sep, '/'), size, mtimeMs];
  });
}

function packageFolders() {
  const packages = path.join(root, 'packages');
  return fs
    .readdirSync(packages)
    .map((name) => path.join(packages, name, 'dist'))
    .filter((dist) => fs.existsSync(path.join(dist, '.tsbuildinfo')));
}

/** Digest of the other inputs of a bundle: this script and the installed packages. */
function recipe() {
  return createHash('sha256')
    .update(fs.readFileSync(new URL(import.meta.url)))
    .update(readText(path.join(root, 'node_modules', '.plinth-stamp')) ?? '')
    .digest('hex');
}
