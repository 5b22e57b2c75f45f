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
  // their own list. Without an `operationId`, the generator writes each operation at its path.
  const usual = JSON.parse(JSON.stringify(description));
  for (const [name, { get }] of Object.entries(usual.paths)) {
    const read = get?.responses['200'];
    delete usual.paths[name];
    if (read === undefined) continue;
    const content = read.content?.['application/json'];
    if (content?.schema.anyOf !== undefined) content.schema = content.schema.anyOf[0];
    const { operationId, ...operation } = get;
    usual.paths[name] = { get: { ...operation, responses: { 200: read } } };
  }
  usual.components.schemas = reachableSchemas(usual);
  const head = '// Written by `npm run openapi` from docs/api/gamedata.json; not edited by hand.\n';
  // Removes members that no code reads: properties of type `never`, then groups that are empty or contain only an index signature.
  const never = /^ +\w+\??: never;\n/gm;
  const empty = /^( +)(parameters|headers): \{\n(?: +\[name: string\]: unknown;\n)?\1\};\n/gm;
  const unused = /^export type .*= Record<string, never>;\n/gm;
  return [never, empty, unused].reduce(
    (types, lines) => types.replace(lines, ''),
    head + astToString(await generate(usual)),
  );
}

/** The schemas of the responses of `paths`, of errors, and those that they refer to. */
function reachableSchemas({ paths, components }) {
  const reached = { Error: components.schemas.Error };
  const visit = (part) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name in reached) continue;
      reached[name] = components.schemas[name];
      visit(reached[name]);
    }
  };
  visit(paths);
  return reached;
}
