// The challenges that stock clients reject, made from ones that they take: a real
// merchant's terms, carried as merchants in the wild carry them. Changes no term.

const decode = (header) => Buffer.from(header, 'base64').toString('utf8');
const base64 = (text) => Buffer.from(text, 'utf8').toString('base64');
const withVersion = (text, version) => text.replace(/"x402Version": ?\d/, `"x402Version":${version}`);

// From the canonical text to { header, body, legacy }, of which each may be absent.
export const DISGUISES = {
  'only in the body': (text) => ({ body: text }),
  // Three of these in a row are a slash in base64, whatever stands before them.
  'in base64url': (text) => ({ header: Buffer.from(text.replace('{', '{"note":"???",')).toString('base64url') }),
  'as bare JSON': (text) => ({ header: text }),
  'with the version as text': (text) => ({ header: base64(withVersion(text, '"2"')) }),
  'without a version': (text) => ({ header: base64(text.replace(/"x402Version": ?\d,/, '')) }),
  'in the older header': (text) => ({ legacy: base64(text) }),
  'as a bare list': (text) => ({ header: base64(JSON.stringify(JSON.parse(text).accepts)) }),
  'in the body, beside a broken header': (text) => ({ header: 'not/base64!', body: text }),
};

export function disguise(text, name) {
  const { header, legacy, body = '{}' } = DISGUISES[name](text);
  const headers = new Headers({ 'content-type': 'application/json' });
  if (header !== undefined) headers.set('PAYMENT-REQUIRED', header);
  if (legacy !== undefined) headers.set('X-PAYMENT-REQUIRED', legacy);
  return new Response(body, { status: 402, headers });
}

export function disguised(fetch, name) {
  return async (...request) => {
    const response = await fetch(...request);
    const header = response.headers.get('PAYMENT-REQUIRED');
    return response.status === 402 && header ? disguise(decode(header), name) : response;
  };
}
