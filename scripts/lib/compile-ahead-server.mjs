// The server as `main.js` starts it, except that it compiles everything anew and notes at its end what V8 made.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CompiledProgram } from '../../packages/server/dist/compiled-program.js';
import { bundleFolder } from './root.mjs';

const program = CompiledProgram.withoutCode(pathToFileURL(`${bundleFolder}${path.sep}`));
process.once('exit', (status) => {
  if (status === 0) fs.writeFileSync(path.join(bundleFolder, 'program.code'), program.code());
});
program.run();
