#!/usr/bin/env node
// Writes docs/SETTINGS.md from the declared settings. Needs a build (`npm run build`).
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const server = path.join(root, 'packages', 'server', 'dist', 'index.js');
const { describeAllSettings } = await import(pathToFileURL(server).href);
fs.mkdirSync(path.join(root, 'docs'), { recursive: true });
fs.writeFileSync(path.join(root, 'docs', 'SETTINGS.md'), describeAllSettings());
