declare module '*?worker&url' {
  const url: string;
  // biome-ignore lint/style/noDefaultExport: Vite uses default exports.
  export default url;
}
