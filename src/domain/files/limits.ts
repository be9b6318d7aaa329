/** Bounds of files that are shown in a chat, most of them Telegram's own. Units stand last in the name. */

const megabyte = 1_048_576;

/** Telegram takes larger pictures as documents only. */
export const photoBytesMax = 10 * megabyte;
/** A bot can upload no more in one request: neither one file nor all of an album. */
export const uploadBytesMax = 50 * megabyte;
/** Telegram refuses a picture whose width and height are more together, or one of them so many times the other. */
export const photoSidesMax = 10_000;
export const photoRatioMax = 20;
/** Bytes of files that one process holds in memory to upload them: twice the largest file. */
export const uploadedAtOnceMax = 2 * uploadBytesMax;
/** Telegram shows so many pictures as one album. */
export const albumMax = 10;
/** Files of one result. As many messages keep a group busy for three minutes. */
export const resultFilesMax = 50;
/** A name is shown as a caption, and names the file on the disk of whoever downloads it: no file system takes more. */
export const fileNameLengthMax = 255;
/** Lines that name files which are missing; the others are counted. */
export const filesLeftShownMax = 10;
/** The words above a text that is shown as a file: what a phone shows without scrolling. */
export const summaryLengthMax = 800;
/** A text of more is not parsed to see whether it is JSON: that would hold up everybody for more than some milliseconds. */
export const jsonParsedMax = 1_000_000;
/** Fields of a JSON object that its summary names. */
export const fieldsNamedMax = 12;
/** The slowest line on which an upload is waited for: 2 Mbit/s. */
export const uploadBytesPerSecond = 250_000;
/** Room for the files of one chat, where the operator says nothing else: a picture of a camera every hour of a year. */
export const blobQuotaDefault = '1GB';
/** Files to which nothing refers yet, or nothing any more: the end of their run comes within seconds, or after an outage. */
export const unreferredFileMs = 86_400_000;
/** The end of a run is written in one commit with many others; a longer text is in a file beside it. */
export const outputTextMax = 65_536;
