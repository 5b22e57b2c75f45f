import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { readText } from './built-files.mjs';
import { bundleFolder as folder, root } from './root.mjs';

const program = path.join(root, 'packages', 'server', 'dist', 'program.js');
const stampFile = path.join(folder, 'stamp.json');

/** Found on the disk when they are used: native code, and the folder of a WebAssembly file. */
const EXTERNAL = ['libsql', '@duckdb/node-bindings', '@guanmingchiu/sqlparser-ts'];

/** A module's use of its own place: a thread's first file, or anything else. */
const OWN_URL = /new URL\('\.\/([\w-]+-worker)\.js', import\.meta\.url\)|import\.meta\.url/g;
/**
 * Puts the compiled program and its packages into few files: finding and reading some two thousand of them is most of
 * what a start costs. `main.js` runs the bundle while it is newer than everything compiled, else the modules.
 * Nothing to do costs a few milliseconds.
 */
export async function bundle() {
  const stamp = JSON.stringify({ made: recipe(), inputs: inputs() });
  if (readText(stampFile) === stamp) return;
  fs.rmSync(folder, { recursive: true, force: true });
  for (const entryPoints of entries()) await esbuild.build(modules(entryPoints));
  fs.writeFileSync(stampFile, stamp); // last, so that a bundle cut short counts as none
}

/** What is in the bundle, and what it asks for when it runs: `inputs` and `outputs` of esbuild's metafile. */
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

/** Threads apart from the program: what both use would be files of its own, and a start waits for each file. */
const entries = () => [[program], listWorkers()];

/** A few modules, of which a command loads its own. */
function modules(entryPoints) {
  return {
    ...COMMON,
    entryPoints,
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    format: 'esm',
    // CommonJS packages ask for Node's own modules by `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [keepPlaces, keepLatePackages],
  };
}

/** Modules find their data files from where they were compiled; threads start with the bundled file of the same name. */
const keepPlaces = {
  name: 'keep-places',
  setup(build) {
    build.onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]dist[\\/].*\.js$/ }, (args) => {
      const text = fs.readFileSync(args.path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
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

/** Packages that are loaded on demand cost a start nothing, and CommonJS ones keep their names for `import()`. */
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

/** Compiled, but listed from the sources: what is left in dist/ of one that was moved would be a second of its name. */
function listWorkers() {
  return packageFolders().flatMap((dist) =>
    fs
      .readdirSync(path.join(dist, '..', 'src'), { recursive: true })
      .filter((name) => name.endsWith('-worker.ts'))
      .map((name) => path.join(dist, name.replace(/\.ts$/, '.js'))),
  );
}

/** What the compiler notes about its own work changes with every file that it writes. */
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

/** What else the bundle depends on: how it is made, and of which packages. */
function recipe() {
  return createHash('sha256')
    .update(fs.readFileSync(new URL(import.meta.url)))
    .update(readText(path.join(root, 'node_modules', '.plinth-stamp')) ?? '')
    .digest('hex');
}
