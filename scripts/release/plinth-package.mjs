import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { describeBundle } from '../lib/bundle.mjs';
import { bundleFolder, root } from '../lib/root.mjs';
import { manifestOf, readLicenses, writeNotices } from './notices.mjs';

/** Data files that the program reads, at the paths that its modules expect. */
const DATA = [
  'packages/tsdb-plugins/python',
  'packages/accounts/reference',
  'packages/gamedata/data',
  'packages/console/dist/site',
  'docs/site/dist',
];
/** Files that the command loads before it checks for a bundle. */
const STARTERS = ['cli.cjs', 'main.js', 'fresh-bundle.js', 'store-thread.js'];
const PAGES = ['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md'];
/** Packages that the site generator includes in its pages. */
const IN_DOCS = [
  ...['vitepress', 'vue', '@vueuse/core', '@vueuse/shared', '@vueuse/integrations'],
  ...['minisearch', 'mark.js', 'focus-trap', 'tabbable'],
];
/** Optional dependencies of bundled packages. */
const NOT_NEEDED = new Set(['pg-native']);
/** Packages with import names that are computed at run time, so the bundler cannot find them. */
const LOADED_BY_NAME = [
  ...['libphonenumber-js', 'postcode-validator', 'validator', 'stdnum'],
  '@guanmingchiu/sqlparser-ts',
];

/**
 * Creates the package `plinth`: the bundle and its data files, in the same folders as in this checkout. Native and lazily loaded packages
 * remain dependencies, pinned to the tested versions.
 * @returns its folder and the bundled packages.
 */
export async function layPlinth(folder, release) {
  const [cli, server] = ['cli', 'server'].map((name) => path.join('packages', name));
  const copy = (name) =>
    fs.cpSync(path.join(root, name), path.join(folder, name), {
      recursive: true,
      filter: (file) =>
        !/licenses\.json|dist[\\/]stamp$|__pycache__|\.pyc$|python[\\/]tests$/.test(file),
    });
  for (const name of [...DATA, ...PAGES]) copy(name);
  for (const name of STARTERS) copy(path.join(cli, 'dist', name));
  copy(path.relative(root, bundleFolder));
  const bundle = path.join(folder, path.relative(root, bundleFolder));
  // The package contains no modules, so the bundle is always current.
  fs.writeFileSync(path.join(bundle, 'stamp.json'), '{"inputs":[]}');
  fs.writeFileSync(
    path.join(bundle, '..', 'program.js'),
    "await import('./bundle/program.mjs');\n",
  );

  const { inputs, outputs } = await describeBundle();
  const late = [...LOADED_BY_NAME, ...externalsOf(outputs)];
  const dependencies = Object.fromEntries(
    [...new Set(late)].sort().map((name) => [name, manifestOf(name).version]),
  );
  const ofConsole = path.join(root, 'packages', 'console', 'dist', 'site', 'licenses.json');
  const bundled = [
    ...readLicenses([...new Set(packagesOf(inputs))]),
    ...JSON.parse(fs.readFileSync(ofConsole, 'utf8')),
    ...readLicenses(IN_DOCS.map((name) => path.join('docs', 'site', 'node_modules', name))),
  ];
  writeNotices(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), bundled);

  const { version, commit, built } = release;
  const own = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  fs.mkdirSync(path.join(folder, server), { recursive: true });
  writeJson(path.join(folder, server, 'package.json'), {
    name: '@plinth/server',
    ...{ version, commit, built },
    private: true,
    type: 'module',
  });
  writeJson(path.join(folder, 'package.json'), {
    name: 'plinth',
    version,
    description: own.description,
    license: own.license,
    keywords: ['time-series', 'database', 'influxdb', 'webhooks', 'rate-limit', 'accounts'],
    type: 'module',
    bin: { plinth: 'packages/cli/dist/cli.cjs' },
    engines: own.engines,
    dependencies,
  });
  return { folder, bundled };
}

/** Returns the packages that the bundle imports at run time. */
const externalsOf = (outputs) =>
  Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, path: name }) => external && !isBuiltin(name) && !name.startsWith('.'))
    .map(({ path: name }) => packageOf(name))
    .filter((name) => !NOT_NEEDED.has(name));

/** Returns the packages inside the bundle. */
const packagesOf = (inputs) =>
  Object.keys(inputs)
    .map((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
    .filter((place) => place !== undefined);

const packageOf = (name) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

const writeJson = (file, value) => fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
