// Turns a picture into one that the service keeps, before it is sent.

// What the service keeps, by the first bytes of a file, whatever its type is said to be.
const KEPT = /^(\x89PNG|\xff\xd8\xff|RIFF.{4}WEBP)/s;
const MAX_PNG = 4 * 2 ** 20;

// GIF, AVIF, HEIC and what else this browser can draw as PNG, or as JPEG if that is large as of a photograph.
/** @param {File} file */
export async function asKept(file) {
  const start = new Uint8Array(await file.slice(0, 12).arrayBuffer());
  if (KEPT.test(String.fromCharCode(...start))) return file;
  try {
    const image = await createImageBitmap(file);
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const drawn = await canvas.convertToBlob({ type: "image/png" });
    return drawn.size > MAX_PNG ? await canvas.convertToBlob({ type: "image/jpeg", quality: 0.92 }) : drawn;
  } catch {
    return file; // the service says what to do
  }
}
