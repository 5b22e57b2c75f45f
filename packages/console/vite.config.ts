import { defineConfig } from 'vite';

/** The server that `npm run dev` proxies to. */
const SERVER = process.env['PLINTH_URL'] ?? 'http://127.0.0.1:8181';
const LARGE = /node_modules\/(?:@codemirror|@lezer|style-mod|w3c-keyname|crelt|@marijn)\//;

// biome-ignore lint/style/noDefaultExport: Vite reads it.
export default defineConfig({
  base: '/console/',
  resolve: {
    // Imports the TypeScript sources, because the compiler runs in parallel.
    alias: { '@plinth/line-protocol': `${import.meta.dirname}/../line-protocol/src/index.ts` },
  },
  server: { port: 5173, proxy: { '/api': SERVER, '/ops': SERVER } },
  worker: { format: 'es' },
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.json' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      checks: { pluginTimings: false },
      onLog(level, log, report) {
        // Directives of libraries for server rendering have no effect here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
      output: {
        codeSplitting: {
          groups: [
            { name: 'editor', test: LARGE },
            { name: 'chart', test: /node_modules\/uplot\// },
            {
              name: 'core',
              test: /node_modules\/(?:react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual-core)[^/]+|use-sync-external-store)\//,
            },
          ],
        },
      },
    },
  },
});
