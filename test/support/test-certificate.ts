/** A self-signed certificate made at run time, so that no private key lies in the tree. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

/** For the given DNS names and IPv4 addresses, valid from 2020 to 2049. Trust it by naming it as an authority: it signs itself. */
export const certificateFor = (...names: readonly string[]): TestCertificate => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])); // ecdsa-with-SHA256
  // The subject tells authorities apart: two that are trusted at once must not share it.
  const name = sequence(
    der(0x31, sequence(oid([0x55, 0x04, 0x03]), der(0x0c, Buffer.from(`test ${names.join(' ')}`)))),
  );
  const altNames = sequence(
    ...names.map((one) =>
      isIPv4(one) ? der(0x87, Buffer.from(one.split('.').map(Number))) : der(0x82, Buffer.from(one)),
    ),
  );
  const extensions = sequence(
    sequence(oid([0x55, 0x1d, 0x11]), der(0x04, altNames)),
    sequence(oid([0x55, 0x1d, 0x13]), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
  );
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, privateKey)]);
  const base64 = sequence(toBeSigned, algorithm, der(0x03, signature)).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
};

const der = (tag: number, content: Buffer): Buffer => {
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));

const oid = (bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
