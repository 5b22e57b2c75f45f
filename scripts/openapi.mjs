#!/usr/bin/env node
// Writes docs/api/*.json (OpenAPI 3.1) and docs/HTTP-API.md from the declared schemas, and the types of the game-data client from the
// OpenAPI description. With --check, only reports whether they are current. Needs a build (`npm run build`).
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { httpApiPage } from './lib/http-api-page.mjs';
import { root } from './lib/root.mjs';

const load = (...parts) => import(pathToFileURL(path.join(root, ...parts)).href);
const { describeServer } = await load('packages', 'server', 'dist', 'index.js');

const described = await describeServer();
const gameData = JSON.parse(JSON.stringify(described.gamedata));
const text = (description) => `${JSON.stringify(description, null, 2)}\n`;
const { tsdb, accounts, webhooks, ratelimit, operator } = described;
const files = {
  'docs/HTTP-API.md': httpApiPage({
    ...{ tsdb, accounts, webhooks, ratelimit },
    ...{ gamedata: gameData, operator },
  }),
  'docs/api/tsdb.json': text(described.tsdb),
  'docs/api/webhooks.json': text(described.webhooks),
  'docs/api/accounts.json': text(described.accounts),
  'docs/api/gamedata.json': text(gameData),
  'docs/api/operator.json': text(described.operator),
  'docs/api/ratelimit.json': text(described.ratelimit),
  'packages/gamedata-client/src/schema.ts': await clientTypes(gameData),
};
for (const [name, wanted] of Object.entries(files)) {
  const file = path.join(root, name);
  if (!process.argv.includes('--check')) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, wanted);
  } else if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== wanted) {
    console.error(`${name} is not current; run \`npm run openapi\``);
    process.exitCode = 1;
  }
}

async function clientTypes(description) {
  // Only the client has the generator as a development dependency.
  const find = createRequire(path.join(root, 'packages', 'gamedata-client', 'package.json'));
  const generator = await import(pathToFileURL(find.resolve('openapi-typescript')).href);
  const { default: generate, astToString } = generator.default?.astToString
    ? generator.default
    : generator;
  // The client only reads and throws for any status except 200. Its types describe the usual request: complete records in the envelope of
  // their own list.
  const usual = JSON.parse(JSON.stringify(description));
  for (const [name, { get }] of Object.entries(usual.paths)) {
    const read = get?.responses['200'];
    delete usual.paths[name];
    if (read === undefined) continue;
    const content = read.content?.['application/json'];
    if (content?.schema.anyOf !== undefined) content.schema = content.schema.anyOf[0];
    usual.paths[name] = { get: { ...get, responses: { 200: read } } };
  }
  const head = '// Written by `npm run openapi` from docs/api/gamedata.json; not edited by hand.\n';
  // Removes properties of type `never`, because no code reads them.
  const never = /^ +\w+\?: never;\n/gm;
  return head + astToString(await generate(usual)).replace(never, '');
}
