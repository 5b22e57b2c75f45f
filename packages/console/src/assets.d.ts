declare module '*.module.css' {
  const names: Readonly<Record<string, string>>;
  // biome-ignore lint/style/noDefaultExport: as Vite hands them out.
  export default names;
}
declare module '*.css';
declare module '*?worker&url' {
  const url: string;
  // biome-ignore lint/style/noDefaultExport: as Vite hands it out.
  export default url;
}
