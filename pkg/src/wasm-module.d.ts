declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
declare module "*/bytes.mjs" {
  const base64: string;
  export default base64;
}
