// The fonts of the machine, so that a page is small and nothing waits for them.
// biome-ignore lint/style/noDefaultExport: VitePress asks for it
export { default } from 'vitepress/theme-without-fonts';
