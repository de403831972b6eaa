; Lean Memory for Windows: a setup for one person, without administrator rights. It unpacks the payload into a folder that Windows throws away
; again and lets the payload's own setup program do the work, so that installing, updating, rolling back and uninstalling are the same on every system.
;
; makensis -DVERSION=… -DFULL_VERSION=a.b.c.d -DPAYLOAD=folder -DFILES=list.nsh -DICON=file.ico -DLICENCE=file -DOUT=file.exe [-DQUICK] setup.nsi
; Signing: makensis -DSIGN="command with %1 for the file" signs the uninstaller and the setup, where there is a key (see docs/maintaining.md).
;
; Silent: Setup.exe /S [/D=folder]      uninstall.exe /S [/MEMORIES=delete]; exit code 0, or 2 where nothing was changed.

Unicode true
Target amd64-unicode
ManifestDPIAware true
ManifestSupportedOS all
RequestExecutionLevel user
!ifdef QUICK
  SetCompressor zlib
!else
  SetCompressor /SOLID lzma
  SetCompressorDictSize 32
!endif
SetDateSave off

!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh
!include nsDialogs.nsh

!define APP "Lean Memory"
!define PUBLISHER "The Lean Memory authors"
!define FOLDER "$LOCALAPPDATA\Programs\${APP}"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\LeanMemory"
!define PATH_KEY "Software\Microsoft\Windows\CurrentVersion\App Paths\lean-memory.exe"
!define KIND "LeanMemory.Bundle"
!define CLASSES "Software\Classes"

Name "${APP}"
OutFile "${OUT}"
InstallDir "${FOLDER}"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"
BrandingText "${APP} ${VERSION}"
!ifdef SIGN
  !uninstfinalize '${SIGN}'
  !finalize '${SIGN}'
!endif

VIProductVersion "${FULL_VERSION}"
VIAddVersionKey "ProductName" "${APP}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${APP} Setup"
VIAddVersionKey "CompanyName" "${PUBLISHER}"
VIAddVersionKey "LegalCopyright" "Apache License 2.0"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_WELCOMEPAGE_TEXT "One private memory on this computer that all your AI assistants share.$\r$\n$\r$\nIt is installed for you alone, needs no administrator and brings all it needs; nothing is downloaded. An earlier version is brought up to date, and your memories, settings and connections stay.$\r$\n$\r$\nClick Next to continue."
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_LICENSE "${LICENCE}"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN
!define MUI_FINISHPAGE_RUN_TEXT "Start ${APP}"
!define MUI_FINISHPAGE_RUN_FUNCTION Start
!insertmacro MUI_PAGE_FINISH

!insertmacro MUI_UNPAGE_CONFIRM
UninstPage custom un.AskForMemories un.KeepAnswer
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Function Start
  ; In the person's home, not in the installer's folder.
  SetOutPath "$PROFILE"
  ; With the window: somebody who has just installed it is to see the first steps.
  Exec '"$INSTDIR\env\pythonw.exe" -P -m lean_memory_desktop --window'
FunctionEnd

Section "Install"
  SetShellVarContext current
  InitPluginsDir
  !include "${FILES}"
  DetailPrint "Installing. On a slow disk this takes some minutes…"
  SetOutPath "$PLUGINSDIR"
  nsExec::ExecToLog '"$PLUGINSDIR\payload\python\python.exe" -I "$PLUGINSDIR\payload\setup.pyz" install --home "$INSTDIR"'
  Pop $0
  ${If} $0 != "0"
    ; What was there before is as it was, and runs again if it ran.
    SetErrorLevel 2
    Abort "${APP} could not be installed; nothing was changed. The lines above say why."
  ${EndIf}

  SetOutPath "$INSTDIR"
  File "/oname=lean-memory.ico" "${ICON}"
  File "/oname=LICENSE.txt" "${LICENCE}"
  File "bring-in.cmd"
  WriteUninstaller "$INSTDIR\uninstall.exe"

  SetOutPath "$PROFILE"
  CreateDirectory "$SMPROGRAMS\${APP}"
  CreateShortcut "$SMPROGRAMS\${APP}\${APP}.lnk" "$INSTDIR\env\pythonw.exe" "-P -m lean_memory_desktop --window" "$INSTDIR\lean-memory.ico" 0 SW_SHOWNORMAL "" "A private memory that your assistants share"
  CreateShortcut "$SMPROGRAMS\${APP}\Open my memory in the browser.lnk" "$INSTDIR\env\pythonw.exe" "-P -m lean_memory_desktop open" "$INSTDIR\lean-memory.ico"
  CreateShortcut "$SMPROGRAMS\${APP}\${APP} in a terminal.lnk" "$SYSDIR\cmd.exe" '/k "set PATH=$INSTDIR\commands;%PATH%"' "$INSTDIR\lean-memory.ico" 0 SW_SHOWNORMAL "" "The command lean-memory"
  CreateShortcut "$SMPROGRAMS\${APP}\Uninstall ${APP}.lnk" "$INSTDIR\uninstall.exe"

  ; What stands on the person's PATH must not bring our Python along.
  CreateDirectory "$INSTDIR\commands"
  CopyFiles /SILENT "$PLUGINSDIR\payload\commands\*.exe" "$INSTDIR\commands"
  WriteRegStr HKCU "${PATH_KEY}" "" "$INSTDIR\commands\lean-memory.exe"

  WriteRegStr HKCU "${CLASSES}\.leanmem" "" "${KIND}"
  WriteRegStr HKCU "${CLASSES}\.leanmem" "Content Type" "application/vnd.leanmemory.bundle"
  WriteRegStr HKCU "${CLASSES}\.leanmem\OpenWithProgids" "${KIND}" ""
  WriteRegStr HKCU "${CLASSES}\${KIND}" "" "${APP} bundle"
  WriteRegStr HKCU "${CLASSES}\${KIND}\DefaultIcon" "" "$INSTDIR\lean-memory.ico"
  WriteRegStr HKCU "${CLASSES}\${KIND}\shell\open\command" "" '"$SYSDIR\cmd.exe" /c ""$INSTDIR\bring-in.cmd" "%1""'

  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${APP}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "${PUBLISHER}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\lean-memory.ico"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  IntFmt $0 "0x%08X" $0
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" "$0"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

Var Forget
Var Tick

Function un.onInit
  StrCpy $Forget ""
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/MEMORIES=" $1
  ${If} $1 == "delete"
    StrCpy $Forget " --forget-memories"
  ${EndIf}
FunctionEnd

Function un.AskForMemories
  !insertmacro MUI_HEADER_TEXT "Your memories" "They stay on this computer unless you say otherwise."
  nsDialogs::Create 1018
  Pop $0
  ${NSD_CreateLabel} 0 0 100% 36u "${APP} takes itself out of your assistants' settings and off this computer. What it remembers stays in the folder .lean_memory of your profile, and a later installation finds it there."
  Pop $0
  ${NSD_CreateCheckbox} 0 44u 100% 12u "Delete my memories as well. This cannot be undone."
  Pop $Tick
  nsDialogs::Show
FunctionEnd

Function un.KeepAnswer
  ${NSD_GetState} $Tick $0
  StrCpy $Forget ""
  ${If} $0 == ${BST_CHECKED}
    StrCpy $Forget " --forget-memories"
  ${EndIf}
FunctionEnd

Section "Uninstall"
  SetShellVarContext current
  SetOutPath "$TEMP"
  nsExec::ExecToLog '"$INSTDIR\env\python.exe" -I "$INSTDIR\setup.pyz" uninstall --home "$INSTDIR"$Forget'
  Pop $0
  ${If} $0 == "1"
    SetErrorLevel 2
    Abort "${APP} could not be taken off; nothing was changed. The lines above say why."
  ${EndIf}
  ; The setup program could not delete the Python that it ran on. Only folders that are ours go; what else lies here stays.
  RMDir /r "$INSTDIR\env"
  ; What ran during an update may have kept the folder of before.
  RMDir /r "$INSTDIR\.env-old"
  RMDir /r "$INSTDIR\.env-new"
  RMDir /r "$INSTDIR\envs"
  RMDir /r "$INSTDIR\commands"
  Delete "$INSTDIR\env.json"
  Delete "$INSTDIR\.lock"
  Delete "$INSTDIR\.switching"
  Delete "$INSTDIR\setup.pyz"
  Delete "$INSTDIR\lean-memory.ico"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\bring-in.cmd"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  RMDir /r "$SMPROGRAMS\${APP}"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  DeleteRegKey HKCU "${PATH_KEY}"
  DeleteRegKey HKCU "${CLASSES}\${KIND}"
  DeleteRegValue HKCU "${CLASSES}\.leanmem\OpenWithProgids" "${KIND}"
  ; Another program may have taken the ending over meanwhile.
  ReadRegStr $0 HKCU "${CLASSES}\.leanmem" ""
  ${If} $0 == "${KIND}"
    DeleteRegKey HKCU "${CLASSES}\.leanmem"
  ${EndIf}
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd
