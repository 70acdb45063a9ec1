// The error a method throws to be answered as a JSON-RPC error, and nothing more.
export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.body = data === undefined ? { code, message } : { code, message, data };
  }
}
