/** Files that are whole or not there, and folders that one process works on at a time. */
export { type Disk, disk, writeFully } from "./disk.js";
export { holdingLock } from "./process-lock.js";
export {
	checkFileTarget,
	checkFolderTarget,
	checkWritable,
	replaceFile,
	replaceFolder,
	temporarily,
} from "./replace.js";
export { removeAbandoned, temporaryName } from "./temporary.js";
