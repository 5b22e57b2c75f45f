declare module '*.module.css' {
  const names: Readonly<Record<string, string>>;
  // biome-ignore lint/style/noDefaultExport: Vite uses default exports.
  export default names;
}
declare module '*.css';
